// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/learn/cluster_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/exemplar/learn/learn_steps.h"

namespace milieu {

namespace {

// Sample p goes to one of n exemplars (variable n + p, label q) and that exemplar is open (variable
// q, label 1); p is open exactly when it goes to itself. [Komodakis11, Eq. 8 and 9]
class ServiceFactor : public CrfFactor {
 public:
  ServiceFactor(int p, int n) : CrfFactor(all(p, n), label_counts(n)), p_(p), n_(n) {}

  double value(std::span<const int> labels, std::span<const double>) const override {
    const int q = labels[n_];
    return labels[q] == 1 && (labels[p_] == 1) == (q == p_)
               ? 0.0
               : std::numeric_limits<double>::infinity();
  }
  void add_gradient(std::span<const int>, double, std::span<double>) const override {}

  double minimise(const CrfUnaries& unaries, std::span<const double>,
                  std::span<int> labels) const override {
    double zeros = 0;
    std::vector<double> theta(n_), ubar(n_);
    for (int q = 0; q < n_; ++q) {
      zeros += unaries[q][0];
      theta[q] = unaries[q][1] - unaries[q][0];
      ubar[q] = unaries[n_][q];
    }
    theta[p_] += ubar[p_];
    std::vector<char> open(n_);
    const internal::SlaveMinimum found = internal::minimise_sample_slave(p_, ubar, theta, 0, open);
    for (int q = 0; q < n_; ++q) labels[q] = open[q];
    labels[n_] = found.chosen;
    return zeros + found.value;
  }

 private:
  static std::vector<int> all(int p, int n) {
    std::vector<int> variables;
    for (int q = 0; q < n; ++q) variables.push_back(q);
    variables.push_back(n + p);
    return variables;
  }
  static std::vector<int> label_counts(int n) {
    std::vector<int> counts(n, 2);
    counts.push_back(n);
    return counts;
  }
  int p_, n_;
};

// -alpha |1 - number of open members| [Komodakis11, Eq. 20].
std::shared_ptr<CountFactor> make_count_factor(const std::vector<int>& members, double alpha) {
  std::vector<LinearCost> costs;
  for (size_t count = 0; count <= members.size(); ++count)
    costs.push_back(constant_cost(-alpha * std::abs(1 - static_cast<double>(count))));
  return std::make_shared<CountFactor>(members, costs);
}

double feature(FloatView points, int64_t p, int64_t q, int64_t t) {
  const double difference = static_cast<double>(points(p, t)) - points(q, t);
  return difference * difference;
}

// Unaries, margins included [Komodakis11, Eq. 18].
void add_variables(FloatView points, const std::vector<int>& labels,
                   const ClusterGraphOptions& options, CrfGraph& graph) {
  const int n = static_cast<int>(points.rows()), d = static_cast<int>(points.cols());
  for (int q = 0; q < n; ++q) {
    const int own = static_cast<int>(options.own_features.cols());
    LinearCost open =
        options.learn_penalty ? weighted_cost(d + own) : constant_cost(options.penalty);
    open.constant += options.beta;
    for (int s = 0; s < own; ++s) open.terms.emplace_back(d + s, options.own_features(q, s));
    graph.add_variable({constant_cost(0), open});
  }
  for (int p = 0; p < n; ++p) {
    std::vector<LinearCost> costs(n);
    for (int q = 0; q < n; ++q) {
      if (q == p) continue;
      costs[q].constant = labels[p] == labels[q] ? options.beta : 0.0;
      for (int t = 0; t < d; ++t) costs[q].terms.emplace_back(t, feature(points, p, q, t));
    }
    graph.add_variable(costs);
  }
}

}  // namespace

std::unique_ptr<GraphExample> make_cluster_graph_example(FloatView points,
                                                         const std::vector<int>& labels,
                                                         const ClusterGraphOptions& options,
                                                         int num_threads) {
  require(points.rows() > 0 && static_cast<int64_t>(labels.size()) == points.rows(),
          "a cluster graph needs one label per sample");
  const int n = static_cast<int>(points.rows());
  CrfGraph graph;
  add_variables(points, labels, options, graph);
  std::vector<std::vector<int>> members(1 + *std::max_element(labels.begin(), labels.end()));
  for (int p = 0; p < n; ++p) {
    graph.add_clique(std::make_shared<ServiceFactor>(p, n));
    members[labels[p]].push_back(p);
  }
  for (const std::vector<int>& cluster : members)
    graph.add_clique(make_count_factor(cluster, options.alpha));
  graph.add_constant(-options.beta * n);
  const auto copy = std::make_shared<Matrix<float>>(points);
  const auto own = std::make_shared<Matrix<float>>(options.own_features);
  const CrfLatentStep choose = [copy, own, labels, members](std::span<const double> w,
                                                            std::span<int> chosen) {
    const int64_t count = copy->rows();
    Matrix<double> distances(count, count);
    for (int64_t p = 0; p < count; ++p)
      for (int64_t q = 0; q < count; ++q)
        for (int64_t t = 0; t < copy->cols(); ++t)
          distances(p, q) += w[t] * feature(*copy, p, q, t);
    for (int64_t q = 0; q < own->rows(); ++q)
      for (int64_t s = 0; s < own->cols(); ++s)
        distances(q, q) += w[copy->cols() + s] * (*own)(q, s);
    const std::vector<int> best =
        internal::best_members(MatrixView<const double>(distances), members);
    for (int64_t p = 0; p < count; ++p) {
      chosen[count + p] = best[labels[p]];
      chosen[p] = chosen[count + p] == p;
    }
  };
  return std::make_unique<GraphExample>(std::move(graph), std::vector<int>(2 * n, -1), n, choose,
                                        num_threads);
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Symbols: x_v = [v has label 1]; a node on the source's side of the cut is 0.
// Method: every cost becomes constants, costs of single nodes, and costs >= 0 that are paid where
// one
//   node is 0 and another 1, which are edges.
//   Pairs: value(a, b) = constant + terms of each + coupling [a = 0, b = 1].
//   Concave functions f of the count k = sum x_v: f(k) = f(0) + (f(1) - f(0)) k - sum over bends b
//     of bend_b (k - b)_+, and -(k - b)_+ = min over z in {0, 1} of z (b - k): one node z for each
//     bend, joined with all variables.
//   Robust P^n [Kohli08]: the three labels of the choice, in the order 0, none, 1, are two nodes,
//     "not 0" and "1", the second only with the first.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/crf/max_flow_internal.h"
#include "milieu/crf/slave.h"

namespace milieu {

namespace {

constexpr double kRounding = 1e-12;  // of the largest value

struct CutEdge {
  int zero = 0, one = 0;  // paid where the first node is 0 and the second 1
  double cost = 0;
};

// Costs of nodes, to be minimised by a cut.
class CutProblem {
 public:
  explicit CutProblem(int num_nodes) : cost_of_one_(num_nodes, 0.0) {}

  int add_node() {
    cost_of_one_.push_back(0);
    return static_cast<int>(cost_of_one_.size()) - 1;
  }
  void add_constant(double cost) { constant_ += cost; }
  void add_one(int node, double cost) { cost_of_one_[node] += cost; }
  void add_edge(int zero, int one, double cost) { edges_.push_back({zero, one, cost}); }
  // Never: the first node 0 and the second 1.
  void forbid(int zero, int one) { forbidden_.push_back({zero, one, 0}); }

  double minimise(std::vector<char>& is_one) const {
    const int n = static_cast<int>(cost_of_one_.size()), source = n, sink = n + 1;
    internal::MaxFlow flow(n + 2);
    double total = constant_, all = 1;
    for (const CutEdge& edge : edges_) {
      flow.add_edge(edge.zero, edge.one, edge.cost);
      all += edge.cost;
    }
    for (int v = 0; v < n; ++v) {
      all += std::abs(cost_of_one_[v]);
      if (cost_of_one_[v] >= 0) {
        flow.add_edge(source, v, cost_of_one_[v]);  // cut when v is 1
      } else {
        flow.add_edge(v, sink, -cost_of_one_[v]);  // cut when v is 0
        total += cost_of_one_[v];
      }
    }
    for (const CutEdge& edge : forbidden_) flow.add_edge(edge.zero, edge.one, all);
    total += flow.run(source, sink);
    for (int v = 0; v < n; ++v) is_one.push_back(!flow.is_on_source_side(v));
    return total;
  }

 private:
  double constant_ = 0;
  std::vector<double> cost_of_one_;
  std::vector<CutEdge> edges_, forbidden_;
};

void add_pair(const CrfFactor& factor, const std::vector<int>& nodes, std::span<const double> w,
              CutProblem& problem) {
  const auto at = [&](int x, int y) { return factor.value(std::array<int, 2>{x, y}, w); };
  const double v00 = at(0, 0), v01 = at(0, 1), v10 = at(1, 0), v11 = at(1, 1);
  const double coupling = v01 + v10 - v00 - v11;
  require(coupling >= -kRounding, [&] {
    return fmt::format(
        "the factor between variables {} and {} is not submodular at these weights (by {}): "
        "keep the weights >= 0",
        factor.variables()[0], factor.variables()[1], -coupling);
  });
  problem.add_constant(v00);
  problem.add_one(nodes[0], v10 - v00);
  problem.add_one(nodes[1], v11 - v10);
  problem.add_edge(nodes[0], nodes[1], std::max(coupling, 0.0));
}

void add_counted(const std::vector<double>& values, const CrfFactor& factor,
                 const std::vector<int>& nodes, CutProblem& problem) {
  double largest = 1;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  problem.add_constant(values[0]);
  for (const int node : nodes) problem.add_one(node, values[1] - values[0]);
  for (size_t b = 1; b + 1 < values.size(); ++b) {
    const double bend = 2 * values[b] - values[b - 1] - values[b + 1];
    require(bend >= -kRounding * largest, [&] {
      return fmt::format(
          "the factor of {} from {} on is not concave in the number of labels 1 at these weights "
          "(at {}, by {}): keep the weights >= 0",
          counted(factor.arity(), "variable"), factor.variables()[0], b, -bend);
    });
    if (bend <= kRounding * largest) continue;
    const int z = problem.add_node();
    problem.add_one(z, bend * (static_cast<double>(b) - static_cast<double>(nodes.size())));
    for (const int node : nodes) problem.add_edge(node, z, bend);
  }
}

// `nodes` of the members; the choice is "not 0" and "1".
void add_robust(const LatentPnFactor& factor, const std::vector<int>& nodes, int not_zero, int one,
                std::span<const double> w, CutProblem& problem) {
  const double disagree = factor.disagree(w);
  require(disagree >= 0, [&] {
    return fmt::format(
        "the robust P^n factor of variable {} has a cost of {} for members that disagree, must be "
        "at least 0 in a cut: keep the weights >= 0",
        factor.variables()[0], disagree);
  });
  problem.add_one(not_zero, factor.none(w));
  problem.add_one(one, -factor.none(w));
  for (const int node : nodes) {
    problem.add_edge(node, one, disagree);       // the choice is 1, the member 0
    problem.add_edge(not_zero, node, disagree);  // the choice is 0, the member 1
  }
}

const LatentPnFactor* as_robust(const CrfFactor& factor) {
  return dynamic_cast<const LatentPnFactor*>(&factor);
}

// Returns the second node of every choice, "1"; its first is "not 0". -1 for other variables.
std::vector<int> add_unaries(const std::vector<int>& num_labels, const CrfUnaries& unaries,
                             CutProblem& problem) {
  const int n = static_cast<int>(num_labels.size());
  std::vector<int> second(n, -1);
  for (int v = 0; v < n; ++v) {
    problem.add_constant(unaries[v][0]);
    if (num_labels[v] == 2) {
      problem.add_one(v, unaries[v][1] - unaries[v][0]);
      continue;
    }
    second[v] = problem.add_node();
    problem.add_one(v, unaries[v][2] - unaries[v][0]);
    problem.add_one(second[v], unaries[v][1] - unaries[v][2]);
    problem.forbid(v, second[v]);
  }
  return second;
}

void add_factor(const CrfFactor& factor, const std::vector<int>& nodes,
                const std::vector<int>& second, std::span<const double> w, CutProblem& problem) {
  if (const LatentPnFactor* robust = as_robust(factor))
    return add_robust(*robust, {nodes.begin() + 1, nodes.end()}, nodes[0], second[nodes[0]], w,
                      problem);
  if (factor.arity() == 2) return add_pair(factor, nodes, w, problem);
  const std::vector<double> values = factor.values_by_count(w);
  require(!values.empty(), [&] {
    return fmt::format(
        "a cut slave takes pairs, counts, P^n and robust P^n factors of two labels; a factor of {} "
        "is none of them",
        counted(factor.arity(), "variable"));
  });
  add_counted(values, factor, nodes, problem);
}

}  // namespace

CutSlave::CutSlave(std::vector<std::shared_ptr<const CrfFactor>> factors)
    : CrfSlave(std::move(factors)) {
  for (size_t f = 0; f < this->factors().size(); ++f)
    for (size_t i = 0; i < places()[f].size(); ++i) {
      const bool is_own_choice = i == 0 && as_robust(*this->factors()[f]) != nullptr;
      const int place = places()[f][i], labels = num_labels()[place];
      require(labels == (is_own_choice ? 3 : 2), [&] {
        return fmt::format("a cut slave has a variable of {}, must have {}",
                           counted(labels, "label"),
                           is_own_choice ? "3, as the choice between two labels" : "2");
      });
    }
}

double CutSlave::minimise(const CrfUnaries& unaries, std::span<const double> w,
                          std::span<int> labels) const {
  const int n = static_cast<int>(variables().size());
  CutProblem problem(n);
  const std::vector<int> second = add_unaries(num_labels(), unaries, problem);
  for (size_t f = 0; f < factors().size(); ++f)
    add_factor(*factors()[f], places()[f], second, w, problem);
  std::vector<char> is_one;
  const double minimum = problem.minimise(is_one);
  for (int v = 0; v < n; ++v)
    labels[v] = second[v] < 0 ? is_one[v] : is_one[second[v]] ? 1 : is_one[v] ? 2 : 0;
  return minimum;
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Problem: minimise over w >= 0  tau J(w) + 1/N sum_k max_x (E(x^k; w) - Ebar(x; w)), where E is
// the
//   energy of exemplar clustering and Ebar the same less a margin that grows with the distance of x
//   from the true partition k [Komodakis11, Eq. 28]; x^k is the best clustering that keeps it.
// Given: example sets with partitions. Find: w.
// Method: max_x is bounded by the sum of slave minima over duals lambda; w and lambda move along
//   projected subgradients in turns [Komodakis11, Fig. 1].
// Symbols: see learn_steps.h. Conventions: lambda starts at 0, w at 3 / d; ties to the lowest
// index;
//   a feature that is the same everywhere gets weight 0.
// See: docs/exemplar_learn.md.
#include "milieu/exemplar/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/exemplar/learn_steps.h"
#include "milieu/linalg/distance.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {

namespace {

constexpr int64_t kRowsPerBlock = 16;

// One example set in training.
struct Trainee {
  Matrix<float> points;  // columns centred and divided by the root of the feature's mean
  std::vector<int> labels;
  std::vector<std::vector<int>> members;  // of each true cluster
  double penalty = 0;
  Matrix<float> distances;             // n x n under the present weights, penalty on the diagonal
  Matrix<double> lambda;               // n x n, [p, q]: dual of x_qq in the slave of p
  std::vector<double> cluster_lambda;  // n, dual of x_qq in the slave of q's cluster

  int64_t n() const { return points.rows(); }
};

// What one pass over the slaves of a set gives.
struct SlaveChoices {
  double bound = 0;  // sum of the slave minima
  std::vector<int> chosen;
  Matrix<char> is_open;               // n x n, row p: the choice of p's slave
  std::vector<char> cluster_is_open;  // n
};

void check_set(const LearnSet& set, size_t k, int64_t d) {
  check_points(set.points, fmt::format("set {}", k));
  require(set.points.cols() == d, [&] {
    return fmt::format("set {} has {} columns, set 0 has {}: they must match", k, set.points.cols(),
                       d);
  });
  const int64_t n = set.points.rows();
  require(static_cast<int64_t>(set.labels.size()) == n, [&] {
    return fmt::format("set {} has {} labels for {} samples: they must match", k, set.labels.size(),
                       n);
  });
  const int highest = *std::max_element(set.labels.begin(), set.labels.end());
  std::vector<int64_t> sizes(std::max(highest, 0) + 1, 0);
  for (int label : set.labels) {
    require(label >= 0,
            [&] { return fmt::format("set {} has the label {}, must be >= 0", k, label); });
    ++sizes[label];
  }
  require(std::find(sizes.begin(), sizes.end(), 0) == sizes.end(),
          [&] { return fmt::format("set {} has an empty cluster: number them from 0", k); });
  require(sizes.size() > 1 && static_cast<int64_t>(sizes.size()) < n, [&] {
    return fmt::format(
        "set {} has {} clusters for {} samples: it must have at least two clusters, and one of "
        "more "
        "than a sample, to show what belongs together",
        k, sizes.size(), n);
  });
}

void check_memory(const std::vector<LearnSet>& sets, const ExemplarLearnOptions& options) {
  double bytes = 0;
  for (const LearnSet& set : sets) {
    const double n = static_cast<double>(set.points.rows());
    bytes += n * n * (sizeof(float) + sizeof(double) + sizeof(char));
  }
  require(bytes / 1e9 <= options.max_memory_gb, [&] {
    return fmt::format(
        "distances and duals take {:.1f} GB, max_memory_gb is {}: raise it, or give fewer samples",
        bytes / 1e9, options.max_memory_gb);
  });
}

// Mean squared difference of each column over the pairs of all sets: twice the variance.
std::vector<double> feature_means(const std::vector<LearnSet>& sets) {
  const int64_t d = sets[0].points.cols();
  std::vector<double> sum(d, 0.0);
  double pairs = 0;
  for (const LearnSet& set : sets) {
    const int64_t n = set.points.rows();
    pairs += static_cast<double>(n) * static_cast<double>(n);
    for (int64_t t = 0; t < d; ++t) {
      double mean = 0, squares = 0;
      for (int64_t p = 0; p < n; ++p) mean += set.points(p, t);
      mean /= static_cast<double>(n);
      for (int64_t p = 0; p < n; ++p) {
        const double difference = set.points(p, t) - mean;
        squares += difference * difference;
      }
      sum[t] += 2 * squares * static_cast<double>(n);
    }
  }
  for (double& value : sum) value /= pairs;
  return sum;
}

Trainee make_trainee(const LearnSet& set, const std::vector<double>& scale,
                     const ExemplarLearnOptions& options) {
  Trainee trainee;
  const int64_t n = set.points.rows(), d = set.points.cols();
  trainee.labels = set.labels;
  trainee.members.resize(*std::max_element(set.labels.begin(), set.labels.end()) + 1);
  for (int p = 0; p < static_cast<int>(n); ++p) trainee.members[set.labels[p]].push_back(p);
  trainee.points = Matrix<float>(n, d);
  for (int64_t t = 0; t < d; ++t) {
    double mean = 0;
    for (int64_t p = 0; p < n; ++p) mean += set.points(p, t);
    mean /= static_cast<double>(n);
    for (int64_t p = 0; p < n; ++p)
      trainee.points(p, t) = static_cast<float>((set.points(p, t) - mean) * scale[t]);
  }
  const double size = static_cast<double>(n) / static_cast<double>(trainee.members.size());
  trainee.penalty =
      options.penalty > 0 ? options.penalty : std::max(2 * options.alpha, options.beta * size / 2);
  trainee.distances = Matrix<float>(n, n);
  trainee.lambda = Matrix<double>(n, n);
  trainee.cluster_lambda.assign(n, 0.0);
  return trainee;
}

// d_pq = sum_t w_t f_pq,t as squared distances of weighted points.
void update_distances(Trainee& trainee, const std::vector<double>& w, int num_threads) {
  const int64_t n = trainee.n(), d = trainee.points.cols();
  Matrix<float> weighted(n, d);
  for (int64_t p = 0; p < n; ++p)
    for (int64_t t = 0; t < d; ++t)
      weighted(p, t) = static_cast<float>(trainee.points(p, t) * std::sqrt(w[t]));
  const std::vector<float> norms = squared_row_norms(weighted);
  parallel_for(n, 8 * kRowsPerBlock, num_threads, [&](const Block& block) {
    squared_distances(weighted.view().rows_between(block.begin, block.end),
                      std::span(norms).subspan(block.begin, block.size()), weighted, norms,
                      trainee.distances.view().rows_between(block.begin, block.end));
    for (int64_t p = block.begin; p < block.end; ++p)
      trainee.distances(p, p) = static_cast<float>(trainee.penalty);
  });
}

// Minimises every slave of a set at the present weights and duals.
SlaveChoices minimise_slaves(const Trainee& trainee, const ExemplarLearnOptions& options) {
  const int64_t n = trainee.n();
  SlaveChoices choices;
  choices.chosen.resize(n);
  choices.is_open = Matrix<char>(n, n);
  choices.cluster_is_open.assign(n, 0);
  const double shared = (trainee.penalty + options.beta) / static_cast<double>(n + 1);
  choices.bound = parallel_reduce(
      n, kRowsPerBlock, options.num_threads, 0.0,
      [&](const Block& block, double& sum) {
        std::vector<double> ubar(n), theta(n);
        for (int64_t p = block.begin; p < block.end; ++p) {
          for (int64_t q = 0; q < n; ++q) {
            ubar[q] = trainee.distances(p, q) +
                      (trainee.labels[p] == trainee.labels[q] ? options.beta : 0.0);
            theta[q] = shared + trainee.lambda(p, q);
          }
          const internal::SlaveMinimum minimum = internal::minimise_sample_slave(
              static_cast<int>(p), ubar, theta, options.beta,
              std::span(choices.is_open.row(p), static_cast<size_t>(n)));
          choices.chosen[p] = minimum.chosen;
          sum += minimum.value;
        }
      },
      [](double& total, double part) { total += part; });
  for (const std::vector<int>& members : trainee.members) {
    std::vector<double> theta;
    for (int q : members) theta.push_back(shared + trainee.cluster_lambda[q]);
    std::vector<char> is_open(members.size());
    choices.bound += internal::minimise_cluster_slave(theta, options.alpha, is_open);
    for (size_t i = 0; i < members.size(); ++i) choices.cluster_is_open[members[i]] = is_open[i];
  }
  return choices;
}

void move_duals(Trainee& trainee, const SlaveChoices& choices, double step, int num_threads) {
  const int64_t n = trainee.n();
  std::vector<double> share(n, 0.0);
  for (int64_t p = 0; p < n; ++p)
    for (int64_t q = 0; q < n; ++q) share[q] += choices.is_open(p, q);
  for (int64_t q = 0; q < n; ++q)
    share[q] = (share[q] + choices.cluster_is_open[q]) / static_cast<double>(n + 1);
  parallel_for(n, kRowsPerBlock, num_threads, [&](const Block& block) {
    for (int64_t p = block.begin; p < block.end; ++p)
      internal::update_duals(std::span(choices.is_open.row(p), static_cast<size_t>(n)), share, step,
                             std::span(trainee.lambda.row(p), static_cast<size_t>(n)));
  });
  internal::update_duals(choices.cluster_is_open, share, step, trainee.cluster_lambda);
}

// Adds sign * f_pq to the gradient; an exemplar's own cost does not depend on w.
void add_feature(const Matrix<float>& points, int64_t p, int64_t q, double sign,
                 std::vector<double>& gradient) {
  for (int64_t t = 0; t < points.cols() && p != q; ++t) {
    const double difference = static_cast<double>(points(p, t)) - points(q, t);
    gradient[t] += sign * difference * difference;
  }
}

// One set's part of a round: its loss, its gradient in w, and a step of its duals.
double train_on(Trainee& trainee, const std::vector<double>& w, double dual_step,
                const ExemplarLearnOptions& options, std::vector<double>& gradient) {
  update_distances(trainee, w, options.num_threads);
  const std::vector<int> best = internal::best_members(trainee.distances, trainee.labels,
                                                       static_cast<int>(trainee.members.size()));
  const SlaveChoices choices = minimise_slaves(trainee, options);
  double energy = 0;
  for (int64_t p = 0; p < trainee.n(); ++p) {
    const int q = best[trainee.labels[p]];
    energy += trainee.distances(p, q);
    add_feature(trainee.points, p, q, 1, gradient);
    add_feature(trainee.points, p, choices.chosen[p], -1, gradient);
  }
  move_duals(trainee, choices, dual_step, options.num_threads);
  return energy - choices.bound;
}

double regularizer(const std::vector<double>& w, LearnRegularizer kind) {
  double sum = 0;
  for (double value : w) sum += kind == LearnRegularizer::L1 ? value : value * value / 2;
  return sum;
}

std::vector<Trainee> make_trainees(const std::vector<LearnSet>& sets,
                                   const std::vector<double>& scale,
                                   const ExemplarLearnOptions& options) {
  std::vector<Trainee> trainees;
  for (const LearnSet& set : sets) {
    trainees.push_back(make_trainee(set, scale, options));
    require(trainees.back().penalty > options.alpha, [&] {
      return fmt::format(
          "penalty is {}, alpha is {}: single samples would always win; take a larger penalty",
          trainees.back().penalty, options.alpha);
    });
  }
  return trainees;
}

}  // namespace

ExemplarLearnResult learn_exemplar_distance(const std::vector<LearnSet>& sets,
                                            const ExemplarLearnOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  validate_options(options);
  require(!sets.empty(), "learning a distance needs at least one example set");
  const int64_t d = sets[0].points.cols();
  for (size_t k = 0; k < sets.size(); ++k) check_set(sets[k], k, d);
  check_memory(sets, options);

  const std::vector<double> means = feature_means(sets);
  std::vector<double> scale(d);
  for (int64_t t = 0; t < d; ++t)
    scale[t] = means[t] == 0 ? 0.0 : options.normalize ? 1 / std::sqrt(means[t]) : 1.0;
  std::vector<Trainee> trainees = make_trainees(sets, scale, options);
  double num_samples = 0;
  for (const Trainee& trainee : trainees) num_samples += static_cast<double>(trainee.n());

  std::vector<double> w(d, 3.0 / static_cast<double>(d)), mean_w = w, squares(d, 0.0);
  ExemplarLearnResult result;
  RunSummary& summary = result.summary;
  for (int round = 1; round <= options.max_iterations && !monitor.should_stop(); ++round) {
    std::vector<double> gradient(d, 0.0);
    double loss = 0;
    for (Trainee& trainee : trainees)
      loss += train_on(trainee, w, 1 / std::sqrt(round), options, gradient);
    summary.trace.push_back(loss / num_samples +
                            options.regularization * regularizer(w, options.regularizer));
    for (int64_t t = 0; t < d; ++t) {
      const double slope = options.regularizer == LearnRegularizer::L1 ? 1.0 : w[t];
      const double g = gradient[t] / num_samples + options.regularization * slope;
      squares[t] += g * g;
      w[t] = std::max(0.0, w[t] - options.step * g / (std::sqrt(squares[t]) + 1e-12));
    }
    // The mean of the second half; before that, the present weights.
    const int half = options.max_iterations / 2;
    const double share = round <= half ? 1.0 : 1.0 / (round - half);
    for (int64_t t = 0; t < d; ++t) mean_w[t] += share * (w[t] - mean_w[t]);
    summary.iterations = round;
    monitor.on_iteration(
        {0, 1, round, options.max_iterations, summary.trace.back(), 0, watch.seconds()});
  }

  for (int64_t t = 0; t < d; ++t) result.model.weights.push_back(mean_w[t] * scale[t] * scale[t]);
  for (const Trainee& trainee : trainees)
    result.model.penalty += trainee.penalty / static_cast<double>(trainees.size());
  const double largest = *std::max_element(mean_w.begin(), mean_w.end());
  int64_t num_off = 0;
  for (double value : mean_w) num_off += value <= 1e-3 * largest;
  summary.method = "exemplar_learn";
  summary.version = version();
  summary.seed = options.seed;
  summary.n = static_cast<int64_t>(num_samples);
  summary.d = d;
  summary.objective = summary.trace.empty() ? 0.0 : summary.trace.back();
  summary.termination =
      monitor.should_stop() ? termination_from(monitor.stop_reason()) : Termination::IterationLimit;
  summary.message = fmt::format("{} of {} features are switched off", num_off, d);
  summary.extra = {{"penalty", result.model.penalty}, {"num_switched_off", num_off}};
  summary.seconds = watch.seconds();
  return result;
}

Matrix<float> apply_weights(const LearnedDistance& model, FloatView points) {
  require(points.cols() == static_cast<int64_t>(model.weights.size()), [&] {
    return fmt::format("points have {} columns, the distance was learned on {}", points.cols(),
                       model.weights.size());
  });
  Matrix<float> weighted(points.rows(), points.cols());
  for (int64_t p = 0; p < points.rows(); ++p)
    for (int64_t t = 0; t < points.cols(); ++t)
      weighted(p, t) = static_cast<float>(points(p, t) * std::sqrt(model.weights[t]));
  return weighted;
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Where EM begins: the pooled Gaussian of all samples, variance floors, the first model.
#include <algorithm>
#include <cmath>
#include <functional>

#include "milieu/base/random.h"
#include "milieu/base/row_choice.h"
#include "milieu/classic/gmm/gmm_steps.h"
#include "milieu/classic/kmeans/kmeans.h"

namespace milieu::internal {

namespace {

constexpr double kMostStopgapWork = 5e7;  // rows x components x features: a tenth of a second

Matrix<double> to_double(FloatView matrix) {
  Matrix<double> result(matrix.rows(), matrix.cols());
  for (int64_t i = 0; i < matrix.rows(); ++i) std::ranges::copy(matrix.row_span(i), result.row(i));
  return result;
}

Matrix<double> means_from_kmeans(const GmmProblem& problem, const GmmOptions& options,
                                 Random random, const Monitor& monitor) {
  KMeansOptions kmeans;
  kmeans.num_clusters = options.num_clusters;
  kmeans.num_restarts = 1;
  kmeans.seed = random.next_bits() >> 1;  // options carry seeds as signed numbers
  kmeans.num_threads = options.num_threads;
  Monitor quiet = monitor;  // the same stop and deadline; its rounds are not ours to report
  const KMeansInput input{problem.points, problem.weights, {}, &problem.rows};
  return to_double(fit_kmeans(input, kmeans, quiet).model.centers);
}

// Row i of all ranks, on every rank.
std::vector<float> shared_row(const GmmProblem& problem, int64_t i) {
  std::vector<float> row(problem.points.cols());
  if (problem.rows.owns(i))
    std::ranges::copy(problem.points.row_span(i - problem.rows.begin()), row.begin());
  problem.rows.share_from_owner<float>(i, row);
  return row;
}

std::function<bool(int64_t)> has_weight(const GmmProblem& problem) {
  return [&problem](int64_t i) { return problem.weights.empty() || problem.weights[i] > 0; };
}

Matrix<double> means_from_samples(const GmmProblem& problem, int num_clusters, Random random) {
  const std::function is_candidate = has_weight(problem);
  const RowChoice candidates(problem.rows, is_candidate);
  const std::vector<int64_t> chosen =
      random.sample_without_replacement(candidates.count(), num_clusters);
  std::vector<int64_t> sorted = chosen;
  std::ranges::sort(sorted);
  const std::vector<int64_t> rows = candidates.rows_at(sorted);
  Matrix<double> means(num_clusters, problem.points.cols());
  for (int64_t c = 0; c < num_clusters; ++c) {
    const auto place = std::ranges::lower_bound(sorted, chosen[c]) - sorted.begin();
    std::ranges::copy(shared_row(problem, rows[place]), means.row(c));
  }
  return means;
}

// Equal round components at the means: the most probable mean is the nearest.
GmmModel make_nearest(const Matrix<double>& means) {
  GmmModel model;
  model.covariance = GmmCovariance::Spherical;
  model.weights.assign(means.rows(), 1.0 / static_cast<double>(means.rows()));
  model.means = means;
  model.covariances = Matrix<double>(means.rows(), 1);
  std::fill_n(model.covariances.data(), means.rows(), 1.0);
  return model;
}

// Components at the means with the pooled variances: what a mean without samples keeps.
GmmModel make_wide(const Matrix<double>& means, const GmmModel& pooled, GmmCovariance covariance) {
  const int64_t d = means.cols();
  const bool is_full = has_full_matrices(covariance);
  const bool is_spherical = covariance == GmmCovariance::Spherical;
  GmmModel model = make_nearest(means);
  model.covariance = covariance;
  model.covariances =
      Matrix<double>(covariance == GmmCovariance::Tied ? 1 : means.rows(), is_full        ? d * d
                                                                           : is_spherical ? 1
                                                                                          : d);
  for (int64_t c = 0; c < model.covariances.rows(); ++c)
    for (int64_t j = 0; j < d; ++j) {
      const double variance = pooled.covariances(0, j);
      if (is_spherical) {
        model.covariances(c, 0) += variance / static_cast<double>(d);
      } else {
        model.covariances(c, is_full ? j * d + j : j) = variance;
      }
    }
  return model;
}

}  // namespace

GmmModel pool_samples(const GmmProblem& problem) {
  const int64_t d = problem.points.cols();
  GmmProblem single = problem;
  single.covariance = GmmCovariance::Diagonal;
  single.floors.assign(d, 0);
  GmmModel pooled;
  pooled.weights = {1.0};
  pooled.means = Matrix<double>(1, d);
  pooled.covariances = Matrix<double>(1, d);
  // The first round is about a sample, which makes constant features exact; the second is about the
  // mean, which keeps all digits of the variances.
  const std::function is_candidate = has_weight(problem);
  const int64_t first = RowChoice(problem.rows, is_candidate).rows_at({0}).at(0);
  std::ranges::copy(shared_row(problem, first), pooled.means.row(0));
  for (int round = 0; round < 2; ++round) {
    GmmModel unit = pooled;
    std::fill_n(unit.covariances.data(), d, 1.0);
    const auto stats =
        run_expectation(single, make_scorer(unit), GmmSharing::Hard, silent_monitor(), {});
    pooled = maximize(single, pooled, *stats);
  }
  return pooled;
}

std::vector<double> variance_floors(const GmmModel& pooled, double regularization) {
  const std::span<const double> variances = pooled.covariances.row_span(0);
  double sum = 0;
  int64_t count = 0;
  for (const double variance : variances) {
    sum += variance;
    count += variance > 0 ? 1 : 0;
  }
  const double constant_variance = count > 0 ? sum / static_cast<double>(count) : 1;
  std::vector<double> floors;
  for (const double variance : variances)
    floors.push_back(regularization * (variance > 0 ? variance : constant_variance));
  return floors;
}

GmmModel start_from_means(const GmmProblem& problem, const GmmModel& pooled,
                          const Matrix<double>& means, const Monitor& monitor) {
  GmmModel wide = make_wide(means, pooled, problem.covariance);
  Monitor quiet = monitor;
  std::optional<GmmStats> stats =
      run_expectation(problem, make_scorer(make_nearest(means)), GmmSharing::Hard, quiet, {});
  if (!stats) {
    apply_floors(problem, wide);
    return wide;
  }
  std::fill_n(stats->first.data(), stats->first.size(), 0.0);  // the means keep their place
  return maximize(problem, wide, *stats);
}

GmmModel first_model(const GmmInput& input, const GmmProblem& problem, const GmmModel& pooled,
                     const GmmOptions& options, int restart, const Monitor& monitor) {
  if (input.initial_model) {
    GmmModel model = *input.initial_model;
    apply_floors(problem, model);
    return model;
  }
  const Random random = Random(options.seed).child(restart);
  const Matrix<double> means = !input.initial_means.empty() ? to_double(input.initial_means)
                               : options.init == GmmInit::KMeans
                                   ? means_from_kmeans(problem, options, random, monitor)
                                   : means_from_samples(problem, options.num_clusters, random);
  return start_from_means(problem, pooled, means, monitor);
}

GmmModel make_stopgap(const GmmProblem& problem, const GmmModel& pooled,
                      const Matrix<double>& means, std::span<int> labels, double* log_likelihood) {
  GmmModel model = make_wide(means, pooled, problem.covariance);
  apply_floors(problem, model);
  const double work = static_cast<double>(problem.rows.size()) * static_cast<double>(means.rows()) *
                      static_cast<double>(means.cols());
  if (work > kMostStopgapWork) {
    std::ranges::fill(labels, -1);
    *log_likelihood = -INFINITY;
    return model;
  }
  GmmProblem quick = problem;
  if (has_full_matrices(problem.covariance)) quick.covariance = GmmCovariance::Diagonal;
  GmmModel wide = make_wide(means, pooled, quick.covariance);
  apply_floors(quick, wide);
  const std::vector<double> values =
      label_samples(wide, problem.points, problem.num_threads, labels);
  *log_likelihood = parallel_reduce(
      problem.rows, problem.num_threads, 0.0,
      [&](const Block& block, double& sum) {
        for (int64_t i = block.begin; i < block.end; ++i)
          sum += (problem.weights.empty() ? 1 : problem.weights[i]) * values[i];
      },
      [](double& all, double part) { all += part; });
  return model;
}

}  // namespace milieu::internal

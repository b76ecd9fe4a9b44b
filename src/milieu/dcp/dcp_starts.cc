// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/dcp/dcp_search_internal.h"

namespace milieu::internal {
namespace {

// The part with the largest value in each column of `values` (K x n) plus its offset.
std::vector<int> largest(const Matrix<float>& values, const std::vector<double>& offsets) {
  std::vector<int> labels(values.cols());
  for (int64_t i = 0; i < values.cols(); ++i) {
    int best = 0;
    for (int k = 1; k < values.rows(); ++k)
      if (values(k, i) + offsets[k] > values(best, i) + offsets[best]) best = k;
    labels[i] = best;
  }
  return labels;
}

std::vector<double> draw_planes(const DcpProblem& problem, double size, Random& random) {
  std::vector<double> planes(problem.num_parts * problem.d);
  for (double& value : planes) value = size * random.normal();
  return planes;
}

// Directions around the samples' mean: the part is the direction a sample lies furthest in.
std::vector<int> split_around_mean(const DcpProblem& problem, const std::vector<double>& planes) {
  const Matrix<float> values = sample_values(problem, planes);
  std::vector<double> offsets(problem.num_parts);
  for (int k = 0; k < problem.num_parts; ++k) {
    for (int64_t i = 0; i < problem.n; ++i) offsets[k] -= values(k, i);
    offsets[k] /= static_cast<double>(problem.n);
  }
  return largest(values, offsets);
}

// Principal axes of the samples, as rows, largest variance first.
Matrix<double> sample_axes(const DcpProblem& problem, int64_t count) {
  const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>
      rows(problem.rows.data(), problem.n, problem.d);
  const Eigen::RowVectorXd mean = rows.colwise().mean().cast<double>();
  Eigen::MatrixXd scatter = Eigen::MatrixXd::Zero(problem.d, problem.d);
  for (int64_t i = 0; i < problem.n; ++i)
    scatter.selfadjointView<Eigen::Lower>().rankUpdate(
        (rows.row(i).cast<double>() - mean).transpose());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(scatter);
  Matrix<double> axes(count, problem.d);
  for (int64_t j = 0; j < count; ++j)
    for (int64_t t = 0; t < problem.d; ++t)
      axes(j, t) = solver.eigenvectors()(t, problem.d - 1 - j % problem.d);
  return axes;
}

// Directions at equal angles in the plane of an axis and the next one, around the samples' mean;
// for two parts, the two sides of the axis.
std::vector<int> split_by_axes(const DcpProblem& problem, const Matrix<double>& axes, int64_t j) {
  std::vector<double> planes;
  for (int k = 0; k < problem.num_parts; ++k) {
    const double angle = 2 * std::numbers::pi * k / problem.num_parts;
    const double sine = problem.num_parts == 2 ? 0 : std::sin(angle);
    for (int64_t t = 0; t < problem.d; ++t)
      planes.push_back(std::cos(angle) * axes(j, t) + sine * axes(j + 1, t));
  }
  return split_around_mean(problem, planes);
}

// Random samples as seeds: the part is the nearest seed.
std::vector<int> split_by_seeds(const DcpProblem& problem, Random& random) {
  const std::vector<int64_t> seeds =
      random.sample_without_replacement(problem.n, problem.num_parts);
  std::vector<double> planes, offsets;
  for (const int64_t seed : seeds) {
    double squared = 0;
    for (const float value : problem.rows.row_span(seed)) {
      planes.push_back(value);
      squared += static_cast<double>(value) * value;
    }
    offsets.push_back(-0.5 * squared);
  }
  return largest(sample_values(problem, planes), offsets);
}

std::vector<int> split_by_kmeans(const DcpProblem& problem, uint64_t seed, const Monitor& monitor) {
  KMeansOptions options;
  options.num_clusters = problem.num_parts;
  options.num_restarts = 1;
  options.seed = seed >> 1;
  options.num_threads = problem.num_threads;
  Monitor quiet(monitor);  // stops with it but reports nothing
  std::vector<int> labels =
      fit_kmeans({problem.rows.view().rows_between(0, problem.n), {}, {}}, options, quiet).labels;
  for (int& label : labels) label = std::max(label, 0);  // stopped before it was labelled
  return labels;
}

constexpr int kMixedAxes = 3;  // restarts of `mixed` in whitened features

// Axes are for whitened features, where the first ones are those of the set, not of the context.
DcpInit kind_of(DcpInit asked, int restart, bool is_whitened) {
  if (asked != DcpInit::Mixed) return asked;
  if (is_whitened && restart >= 1 && restart <= kMixedAxes) return DcpInit::Axes;
  return restart == 0 ? DcpInit::KMeans : restart % 2 == 1 ? DcpInit::Planes : DcpInit::Seeds;
}

}  // namespace

std::vector<Start> draw_starts(const DcpProblem& problem, const DcpInput& input,
                               const DcpOptions& options, const Monitor& monitor) {
  if (!input.initial_labels.empty())
    return {{{input.initial_labels.begin(), input.initial_labels.end()}, {}}};
  std::vector<Start> starts;
  const int num_axes = options.init == DcpInit::Axes ? options.num_restarts : kMixedAxes;
  Matrix<double> axes;
  for (int restart = 0; restart < options.num_restarts; ++restart) {
    Random random = Random(options.seed).child(static_cast<uint64_t>(restart));
    Start start;
    switch (kind_of(options.init, restart, problem.is_whitened())) {
      case DcpInit::KMeans:
        start.labels = split_by_kmeans(problem, random.next_bits(), monitor);
        break;
      case DcpInit::Axes:
        if (axes.empty()) axes = sample_axes(problem, num_axes + 2);
        start.labels =
            split_by_axes(problem, axes, options.init == DcpInit::Axes ? restart : restart - 1);
        break;
      case DcpInit::Planes:
        start.labels = split_around_mean(problem, draw_planes(problem, 1, random));
        break;
      case DcpInit::Random:
        start.planes =
            draw_planes(problem, 1 / std::sqrt(std::max(problem.mean_square, 1e-30)), random);
        break;
      default:
        start.labels = split_by_seeds(problem, random);
    }
    starts.push_back(std::move(start));
    if (monitor.should_stop()) break;
  }
  return starts;
}

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// The ways to split a two-factor set in two.
#include <algorithm>
#include <cmath>

#include "milieu/classic/gmm/gmm.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/ncut/ncut.h"
#include "milieu/dcp/dcp.h"
#include "milieu/linalg/pca.h"
#include "reproduce/dcp/two_factor.h"

namespace milieu::cli {

namespace {

constexpr int kMixtureDims = 10, kContrastDims = 2, kContrastSpace = 50;

Matrix<float> stacked(FloatView a, FloatView b) {
  Matrix<float> both(a.rows() + b.rows(), a.cols());
  for (int64_t i = 0; i < a.rows(); ++i) std::copy_n(a.row(i), a.cols(), both.row(i));
  for (int64_t i = 0; i < b.rows(); ++i) std::copy_n(b.row(i), b.cols(), both.row(a.rows() + i));
  return both;
}

int at_most(int wanted, FloatView points) {
  return static_cast<int>(std::min<int64_t>({wanted, points.rows(), points.cols()}));
}

std::vector<int> two_means(FloatView points, KMeansDistance metric, uint64_t seed,
                           const ReproduceRun& run) {
  KMeansOptions options;
  options.num_clusters = 2;
  options.distance = metric;
  options.num_restarts = run.num_restarts(options.num_restarts);
  options.seed = seed;
  options.num_threads = run.options().num_threads;
  return fit_kmeans({points, {}, {}}, options, run.monitor()).labels;
}

std::vector<int> mixture(FloatView points, uint64_t seed, const ReproduceRun& run) {
  const Matrix<float> reduced = project(fit_pca(points, at_most(kMixtureDims, points)), points);
  GmmOptions options;
  options.num_clusters = 2;
  options.covariance = GmmCovariance::Full;
  options.num_restarts = run.num_restarts(5);
  options.seed = seed;
  options.num_threads = run.options().num_threads;
  return fit_gmm({reduced, {}, {}}, options, run.monitor()).labels;
}

std::vector<int> cut(FloatView points, uint64_t seed, const ReproduceRun& run) {
  NcutOptions options;
  options.num_clusters = 2;
  options.num_neighbors = std::min(options.num_neighbors, static_cast<int>(points.rows()) - 1);
  options.scale_neighbor = std::min(options.scale_neighbor, options.num_neighbors);
  options.num_restarts = run.num_restarts(options.num_restarts);
  options.seed = seed;
  options.num_threads = run.options().num_threads;
  return fit_ncut({points}, options, run.monitor()).labels;
}

std::vector<int> split_by_dcp(FloatView set, FloatView context, DcpOptions options, uint64_t seed,
                              const ReproduceRun& run) {
  options.num_restarts = run.num_restarts(options.num_restarts);
  options.seed = seed;
  options.num_threads = run.options().num_threads;
  DcpInput input;
  input.points = set;
  input.context = context;
  return fit_dcp(input, options, run.monitor()).labels;
}

Matrix<double> covariance_of(FloatView rows) {
  const int64_t n = rows.rows(), d = rows.cols();
  std::vector<double> mean(static_cast<size_t>(d));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t t = 0; t < d; ++t) mean[static_cast<size_t>(t)] += rows(i, t) / double(n);
  Matrix<double> covariance(d, d);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t s = 0; s < d; ++s)
      for (int64_t t = 0; t < d; ++t)
        covariance(s, t) += (rows(i, s) - mean[static_cast<size_t>(s)]) *
                            (rows(i, t) - mean[static_cast<size_t>(t)]) / double(n);
  return covariance;
}

// The `count` leading eigenvectors of a symmetric matrix, as rows, by orthogonal iteration. Adding
// a multiple of the identity makes all eigenvalues positive and changes no vector.
Matrix<double> leading_vectors(Matrix<double> a, int64_t count) {
  constexpr int kIterations = 2000;
  const int64_t d = a.rows();
  double squared = 0;
  for (int64_t i = 0; i < a.size(); ++i) squared += a.data()[i] * a.data()[i];
  for (int64_t t = 0; t < d; ++t) a(t, t) += std::sqrt(squared);
  Matrix<double> vectors(count, d);
  for (int64_t j = 0; j < count; ++j) vectors(j, j % d) = 1;
  for (int iteration = 0; iteration < kIterations; ++iteration)
    for (int64_t j = 0; j < count; ++j) {
      std::vector<double> next(static_cast<size_t>(d));
      for (int64_t s = 0; s < d; ++s)
        for (int64_t t = 0; t < d; ++t) next[static_cast<size_t>(s)] += a(s, t) * vectors(j, t);
      for (int64_t before = 0; before < j; ++before) {
        double along = 0;
        for (int64_t t = 0; t < d; ++t) along += next[static_cast<size_t>(t)] * vectors(before, t);
        for (int64_t t = 0; t < d; ++t) next[static_cast<size_t>(t)] -= along * vectors(before, t);
      }
      double length = 0;
      for (const double value : next) length += value * value;
      for (int64_t t = 0; t < d && length > 0; ++t)
        vectors(j, t) = next[static_cast<size_t>(t)] / std::sqrt(length);
    }
  return vectors;
}

}  // namespace

std::vector<int> split_by_contrast(FloatView set, FloatView context, double contrast, uint64_t seed,
                                   const ReproduceRun& run) {
  const Matrix<float> both = stacked(set, context);
  const Pca pca = fit_pca(both, at_most(kContrastSpace, both));
  const Matrix<float> a = project(pca, set), b = project(pca, context);
  Matrix<double> difference = covariance_of(a);
  const Matrix<double> of_context = covariance_of(b);
  for (int64_t i = 0; i < difference.size(); ++i)
    difference.data()[i] -= contrast * of_context.data()[i];
  const int64_t dims = std::min<int64_t>(kContrastDims, a.cols());
  const Matrix<double> directions = leading_vectors(std::move(difference), dims);
  Matrix<float> plane(a.rows(), dims);
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < dims; ++j) {
      double along = 0;
      for (int64_t t = 0; t < a.cols(); ++t) along += a(i, t) * directions(j, t);
      plane(i, j) = static_cast<float>(along);
    }
  return two_means(plane, KMeansDistance::Euclidean, seed, run);
}

std::vector<TwoFactorMethod> two_factor_methods(const ReproduceRun& run) {
  const auto contrastive = [&run](double contrast) {
    return [&run, contrast](FloatView set, FloatView context, uint64_t seed) {
      return split_by_contrast(set, context, contrast, seed, run);
    };
  };
  return {{"dcp, default", true,
           [&run](FloatView set, FloatView context, uint64_t seed) {
             return split_by_dcp(set, context, {}, seed, run);
           }},
          {"dcp, --preset margin", true,
           [&run](FloatView set, FloatView context, uint64_t seed) {
             return split_by_dcp(set, context, margin_dcp_options(), seed, run);
           }},
          {"k-means", false,
           [&run](FloatView set, FloatView, uint64_t seed) {
             return two_means(set, KMeansDistance::Euclidean, seed, run);
           }},
          {"spherical k-means", false,
           [&run](FloatView set, FloatView, uint64_t seed) {
             return two_means(set, KMeansDistance::Cosine, seed, run);
           }},
          {"mixture on 10 components", false,
           [&run](FloatView set, FloatView, uint64_t seed) { return mixture(set, seed, run); }},
          {"normalized cut", false,
           [&run](FloatView set, FloatView, uint64_t seed) { return cut(set, seed, run); }},
          {"contrastive PCA (1) + k-means", true, contrastive(1)},
          {"contrastive PCA (10) + k-means", true, contrastive(10)}};
}

}  // namespace milieu::cli

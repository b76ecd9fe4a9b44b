// SPDX-License-Identifier: Apache-2.0
// What a start sees of all images at once: factors of their log counts, and the cut of a graph.
#include <algorithm>
#include <cmath>

#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/ncut/ncut.h"
#include "milieu/dlgmm/dlgmm_run_internal.h"
#include "milieu/linalg/pca.h"

namespace milieu::internal {

namespace {

constexpr int64_t kMostCut = 20000;  // images; of more, the neighbours would take too long

// `width` columns from `at` on become `points`, scaled so that their squared length is 1 on
// average.
void put_scaled(FloatView points, int64_t at, Matrix<float>& joint) {
  double variance = 0;
  for (int64_t c = 0; c < points.cols(); ++c) {
    double sum = 0, squares = 0;
    const double n = static_cast<double>(points.rows());
    const double origin = points(0, c);
    for (int64_t d = 0; d < points.rows(); ++d) {
      const double x = static_cast<double>(points(d, c)) - origin;
      sum += x, squares += x * x;
    }
    variance += std::max(0.0, squares / n - (sum / n) * (sum / n));
  }
  const double scale = variance > 0 ? 1 / std::sqrt(variance) : 1;
  for (int64_t d = 0; d < points.rows(); ++d)
    for (int64_t c = 0; c < points.cols(); ++c)
      joint(d, at + c) = static_cast<float>(scale * static_cast<double>(points(d, c)));
}

// The vectors of the images with patches.
Matrix<float> kept_vectors(const DlgmmRun& run, const FirstCounts& first) {
  const FloatView vectors = run.table.images.vectors;
  Matrix<float> kept(first.points.rows(), vectors.cols());
  for (int64_t i = 0; i < kept.rows() && kept.cols() > 0; ++i)
    std::copy_n(vectors.row(first.images[i]), vectors.cols(), kept.row(i));
  return kept;
}

// Log counts beside the images' vectors, both of equal weight.
Matrix<float> join_points(const DlgmmRun& run, const FirstCounts& first) {
  const Matrix<float> vectors = kept_vectors(run, first);
  Matrix<float> joint(first.points.rows(), first.points.cols() + vectors.cols());
  put_scaled(first.points, 0, joint);
  if (vectors.cols() > 0) put_scaled(vectors, first.points.cols(), joint);
  return joint;
}

NcutResult cut(FloatView points, const DlgmmOptions& options, uint64_t seed, Monitor& monitor) {
  NcutOptions ncut;
  ncut.num_clusters = options.num_clusters;
  ncut.seed = seed;
  ncut.num_threads = options.num_threads;
  return fit_ncut({points}, ncut, monitor);
}

std::vector<int> labels_of_kmeans(FloatView points, const DlgmmOptions& options, uint64_t seed,
                                  Monitor& monitor) {
  KMeansOptions kmeans;
  kmeans.num_clusters = options.num_clusters;
  kmeans.num_restarts = 1;
  kmeans.seed = seed;
  kmeans.num_threads = options.num_threads;
  KMeansInput input;
  input.points = points;
  return fit_kmeans(input, kmeans, monitor).labels;
}

}  // namespace

void gather_points(const DlgmmRun& run, FirstCounts& first) {
  const ImageTable& table = run.table;
  const DlgmmOptions& options = run.options;
  first.vectors = Matrix<double>(static_cast<int64_t>(first.kept.size()), table.vectors.cols());
  for (size_t i = 0; i < first.kept.size(); ++i)
    std::ranges::copy(table.vector(table.own_begin() + first.kept[i]),
                      first.vectors.row(static_cast<int64_t>(i)));
  if (options.covariance != DlgmmCovariance::LowRank && options.init != DlgmmInit::NormalizedCut)
    return;
  const int64_t width = first.counts.cols();
  Matrix<double> all(table.num_images, width);
  std::copy_n(first.pass.counts.data(), first.pass.counts.size(), all.row(table.own_begin()));
  table.team->complete(table.num_images, kLayerBlock,
                       std::span(all.data(), static_cast<size_t>(all.size())), width);
  for (int64_t d = 0; d < table.num_images; ++d)
    if (table.num_patches(d) > 0) first.images.push_back(d);
  Matrix<double> kept(static_cast<int64_t>(first.images.size()), width);
  for (int64_t i = 0; i < kept.rows(); ++i)
    std::copy_n(all.row(first.images[i]), width, kept.row(i));
  first.points = log_counts(kept, table.num_bands);
  if (options.covariance != DlgmmCovariance::LowRank) return;
  const Pca pca = fit_pca(
      first.points, static_cast<int>(usable_factors(options.num_factors, kept.rows(), width)));
  first.factors = Matrix<double>(width, pca.components.rows());
  first.origin = Matrix<double>(1, width);
  std::ranges::copy(pca.mean, first.origin.data());
  for (int64_t v = 0; v < width; ++v)
    for (int64_t f = 0; f < first.factors.cols(); ++f) first.factors(v, f) = pca.components(f, v);
}

std::vector<int> CutStart::labels(int restart, uint64_t seed, Monitor& monitor) {
  const DlgmmOptions& options = run_.options;
  const bool has_vectors = run_.table.images.vectors.cols() > 0;
  if (points_.empty()) points_ = join_points(run_, first_);
  std::vector<int> all;
  if (points_.rows() > kMostCut) {
    all = labels_of_kmeans(points_, options, seed, monitor);
  } else if (restart == 0) {
    NcutResult found = cut(points_, options, seed, monitor);
    embedding_ = std::move(found.model.embedding);
    all = std::move(found.labels);
  } else if (has_vectors && restart <= 2) {
    const Matrix<float> alone = restart == 1 ? first_.points : kept_vectors(run_, first_);
    all = cut(alone, options, seed, monitor).labels;
  } else {
    all = labels_of_kmeans(embedding_, options, seed, monitor);
  }
  std::vector<int> own;
  const ImageTable& table = run_.table;
  for (size_t i = 0; i < all.size(); ++i)
    if (first_.images[i] >= table.own_begin() && first_.images[i] < table.own_end())
      own.push_back(all[i]);
  return own;
}

}  // namespace milieu::internal

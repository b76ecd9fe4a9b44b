// SPDX-License-Identifier: Apache-2.0
// Mini-batches. The M-steps of DLGMM are functions of expected statistics of exponential families,
// so the natural gradient of the bound in the natural parameters is the difference of the M-steps
// of a batch, scaled to all images, and of the current average [Hoffman13]: a step of rate rho
// replaces the average S by (1 - rho) S + rho (D / B) s.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/random.h"
#include "milieu/dlgmm/dlgmm_run_internal.h"

namespace milieu::internal {

namespace {

constexpr uint64_t kBatchStream = 1u << 20;
// Rate t^-forgetting, which converges in (0.5, 1]. Images keep their theta between visits, so the
// statistics of a batch are good from the start and the least forgetting is best.
constexpr double kForgetting = 0.51;
// The average remembers at least this many images for each cluster, and the model waits for them:
// from fewer, clusters that a batch hardly shows would be lost.
constexpr int64_t kImagesPerCluster = 20;

// The patches of some images, copied together: those that this rank reads.
struct Batch {
  std::vector<int64_t> images;
  Matrix<float> patches;
  std::vector<int64_t> offsets = {0};
  Matrix<int32_t> grid;
  std::vector<uint8_t> bands;
  ImageTable table;
};

Batch gather_batch(const ImageTable& all, std::vector<int64_t> images, double gamma) {
  Batch batch;
  for (const int64_t d : images) batch.offsets.push_back(batch.offsets.back() + all.num_patches(d));
  batch.patches = Matrix<float>(batch.offsets.back(), all.images.patches.cols());
  const bool has_grid = all.images.grid.rows() > 0;
  if (has_grid) batch.grid = Matrix<int32_t>(static_cast<int64_t>(images.size()), 2);
  for (size_t k = 0; k < images.size(); ++k) {
    const int64_t d = images[k];
    for (int64_t i = 0; i < all.num_patches(d) && !all.images.bands.empty(); ++i)
      batch.bands.push_back(all.images.bands[all.begin(d) + i]);
    if (has_grid) std::copy_n(all.images.grid.row(d), 2, batch.grid.row(static_cast<int64_t>(k)));
  }
  const DlgmmImages view{batch.patches.view(), batch.offsets,
                         has_grid ? batch.grid.view() : MatrixView<const int32_t>(), batch.bands};
  const int64_t num_vectors = all.vectors.empty() ? 0 : static_cast<int64_t>(images.size());
  Matrix<double> vectors(num_vectors, all.vectors.cols());
  for (int64_t k = 0; k < num_vectors; ++k)
    std::ranges::copy(all.vectors.row_span(images[k]), vectors.row(k));
  batch.images = std::move(images);
  batch.table = make_image_table(view, all.num_bands, gamma, *all.team);
  batch.table.vectors = std::move(vectors);
  for (int64_t k = batch.table.pass_begin(); k < batch.table.pass_end(); ++k) {
    const int64_t first = all.begin(batch.images[k]);
    for (int64_t i = 0; i < batch.table.num_patches(k); ++i)
      std::copy_n(all.images.patches.row(first + i), batch.patches.cols(),
                  batch.patches.row(batch.offsets[k] + i));
  }
  return batch;
}

// Rows of a batch in matrices of own images, and those of the batch that ranks share in its own
// way.
class BatchRows {
 public:
  BatchRows(const ImageTable& all, const Batch& batch) : all_(all), batch_(batch) {
    for (const int64_t border : all.layer_borders)
      borders_.push_back(std::ranges::lower_bound(batch.images, border) - batch.images.begin());
  }

  Matrix<double> take(const Matrix<double>& from) const {
    Matrix<double> rows(end() - begin(), from.cols());
    for (int64_t k = begin(); k < end(); ++k)
      std::copy_n(from.row(place(k)), from.cols(), rows.row(k - begin()));
    if (!all_.team->is_shared()) return rows;
    return move_matrix(*all_.team, rows, borders_, batch_.table.layer_borders);
  }

  void put(const Matrix<double>& found, Matrix<double>& to) const {
    const bool is_shared = all_.team->is_shared();
    const Matrix<double> moved =
        is_shared ? move_matrix(*all_.team, found, batch_.table.layer_borders, borders_)
                  : Matrix<double>();
    const DoubleView rows = is_shared ? moved.view() : found.view();
    for (int64_t k = begin(); k < end(); ++k)
      std::copy_n(rows.row(k - begin()), rows.cols(), to.row(place(k)));
  }

 private:
  int64_t begin() const { return borders_[all_.team->rank()]; }
  int64_t end() const { return borders_[all_.team->rank() + 1]; }
  int64_t place(int64_t k) const { return batch_.images[k] - all_.own_begin(); }

  const ImageTable& all_;
  const Batch& batch_;
  std::vector<int64_t> borders_;  // in the batch: where the images of each rank begin
};

struct LayerStats {
  WordStats words;
  ClusterStats clusters;
};

// The local step of a batch: phi, theta and zeta under the model, and their statistics.
std::optional<LayerStats> visit(const DlgmmRun& run, const Batch& batch, DlgmmState& state,
                                Monitor& monitor) {
  const BatchRows rows(run.table, batch);
  Matrix<double> alpha = rows.take(state.alpha), zeta = rows.take(state.probabilities);
  std::optional<PassResult> pass =
      run_data_pass(batch.table, state.model, alpha, run.pass_options(state.model.gamma), monitor);
  if (!pass) return std::nullopt;
  std::optional<ClusterStats> clusters = update_images(batch.table, state.model, pass->counts, zeta,
                                                       alpha, run.options.num_threads, monitor);
  if (!clusters) return std::nullopt;
  rows.put(alpha, state.alpha);
  rows.put(zeta, state.probabilities);
  return LayerStats{std::move(pass->stats), std::move(*clusters)};
}

void add_scaled(double keep, double add, const double* from, int64_t count, double* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = keep * to[i] + add * from[i];
}

}  // namespace

// Of full covariances; the first moments are still about `from`.
static void move_products(DoubleView from, DoubleView to, WordStats& stats) {
  const int64_t dim = from.cols();
  for (int64_t v = 0; v < from.rows(); ++v)
    for (int64_t r = 0; r < dim; ++r)
      for (int64_t c = 0; c < dim; ++c) {
        const double shift_r = from(v, r) - to(v, r), shift_c = from(v, c) - to(v, c);
        stats.second(v, r * dim + c) += stats.first(v, r) * shift_c + stats.first(v, c) * shift_r +
                                        stats.mass[v] * shift_r * shift_c;
      }
}

void move_moments(DoubleView from, DoubleView to, WordStats& stats) {
  if (stats.is_full) move_products(from, to, stats);
  for (int64_t v = 0; v < from.rows(); ++v)
    for (int64_t r = 0; r < from.cols(); ++r) {
      const double shift = from(v, r) - to(v, r);
      if (!stats.is_full)
        stats.second(v, stats.second.cols() == 1 ? 0 : r) +=
            shift * (2 * stats.first(v, r) + stats.mass[v] * shift);
      stats.first(v, r) += stats.mass[v] * shift;
    }
}

void move_moments(DoubleView from, DoubleView to, ClusterStats& stats) {
  if (stats.first.empty()) return;  // of low rank: its moments are about zero
  const int64_t width = from.cols();
  for (int64_t j = 0; j < from.rows(); ++j) {
    if (!stats.is_full) {
      for (int64_t c = 0; c < width; ++c) {
        const double shift = from(j, c) - to(j, c);
        stats.second(j, c) += shift * (2 * stats.first(j, c) + stats.mass[j] * shift);
      }
    } else {
      const int64_t bands = stats.second.rows() / from.rows(), size = width / bands;
      for (int64_t g = 0; g < bands; ++g)
        for (int64_t a = 0; a < size; ++a)
          for (int64_t b = 0; b < size; ++b) {
            const int64_t ca = g * size + a, cb = g * size + b;
            const double shift_a = from(j, ca) - to(j, ca), shift_b = from(j, cb) - to(j, cb);
            stats.second(j * bands + g, a * size + b) += stats.first(j, ca) * shift_b +
                                                         stats.first(j, cb) * shift_a +
                                                         stats.mass[j] * shift_a * shift_b;
          }
    }
    for (int64_t c = 0; c < width; ++c)
      stats.first(j, c) += stats.mass[j] * (from(j, c) - to(j, c));
  }
}

void blend(double keep, double add, const WordStats& other, WordStats& stats) {
  add_scaled(keep, add, other.mass.data(), static_cast<int64_t>(stats.mass.size()),
             stats.mass.data());
  add_scaled(keep, add, other.first.data(), stats.first.size(), stats.first.data());
  add_scaled(keep, add, other.second.data(), stats.second.size(), stats.second.data());
}

void blend(double keep, double add, const ClusterStats& other, ClusterStats& stats) {
  add_scaled(keep, add, other.mass.data(), static_cast<int64_t>(stats.mass.size()),
             stats.mass.data());
  add_scaled(keep, add, other.first.data(), stats.first.size(), stats.first.data());
  add_scaled(keep, add, other.second.data(), stats.second.size(), stats.second.data());
  stats.factors.blend(keep, add, other.factors);
  stats.vectors.blend(keep, add, other.vectors);
}

void run_batches(const DlgmmRun& run, DlgmmState& state, Monitor& monitor) {
  const DlgmmOptions& options = run.options;
  std::vector<int64_t> order;
  for (int64_t d = 0; d < run.table.num_images; ++d)
    if (run.table.num_patches(d) > 0) order.push_back(d);
  const auto num_images = static_cast<int64_t>(order.size());
  const int64_t size = std::min<int64_t>(options.batch_images, num_images);
  const int64_t per_epoch = num_images / size;  // a rest of images waits for the next epoch
  const int64_t num_steps = per_epoch * options.num_epochs;
  const int64_t num_waits = std::clamp<int64_t>(
      (kImagesPerCluster * options.num_clusters + size - 1) / size, 1, per_epoch);
  Random random = Random(options.seed).child(kBatchStream);
  std::optional<LayerStats> average;
  for (int64_t step = 0; step < num_steps; ++step) {
    monitor.on_progress("mini-batches", step, num_steps);
    if (step % per_epoch == 0) random.shuffle(std::span<int64_t>(order));
    const auto first = order.begin() + (step % per_epoch) * size;
    std::vector<int64_t> images(first, first + size);
    std::sort(images.begin(), images.end());  // the file is read forwards
    const Batch batch = gather_batch(run.table, std::move(images), state.model.gamma);
    const std::optional<LayerStats> found = visit(run, batch, state, monitor);
    if (!found || !std::isfinite(found->clusters.bound.total())) return;
    const double scale = static_cast<double>(num_images) / static_cast<double>(size);
    const double rate = step < num_waits
                            ? 1 / static_cast<double>(step + 1)
                            : std::min(std::pow(static_cast<double>(step + 1), -kForgetting),
                                       1 / static_cast<double>(num_waits));
    if (!average) average = found;
    blend(step == 0 ? 0 : 1 - rate, rate * scale, found->words, average->words);
    blend(step == 0 ? 0 : 1 - rate, rate * scale, found->clusters, average->clusters);
    if (step + 1 < num_waits) continue;
    const Matrix<double> old_words = state.model.words, old_means = state.model.means;
    if (options.fix != DlgmmFix::Codebook)
      update_words(average->words, run.word_floor, state.model);
    if (options.fix != DlgmmFix::Clusters)
      update_clusters(average->clusters, options.min_cluster_variance, state.model);
    move_moments(old_words, state.model.words, average->words);
    move_moments(old_means, state.model.means, average->clusters);
  }
}

}  // namespace milieu::internal

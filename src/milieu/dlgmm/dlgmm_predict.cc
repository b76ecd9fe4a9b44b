// SPDX-License-Identifier: Apache-2.0
// Inference for images under a fixed model: Eqs. 5 (or 14), theta and 4, image by image, until
// they settle. The result of an image depends only on the model and its patches.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/dlgmm/dlgmm_steps.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {

namespace {

using namespace internal;

constexpr int kMaxRounds = 30;
constexpr double kZetaTolerance = 1e-6;
constexpr double kAlphaTolerance = 1e-4;
constexpr int64_t kMinWindow = 512, kMaxWindow = 8192;

// `has_inference`: clusters are inferred too, for which the images' vectors are needed.
ImageTable check(const DlgmmModel& model, const DlgmmImages& images, int num_threads,
                 bool has_inference) {
  check_model(model);
  require(images.patches.cols() == model.words.cols(), [&] {
    return fmt::format("patches have {}, the model was fitted on {}",
                       counted(images.patches.cols(), "column"), model.words.cols());
  });
  if (images.patches.rows() > 0 || images.offsets.empty())
    check_points(images.patches, "patches", num_threads);
  ImageTable table = make_image_table(images, model.num_bands, model.gamma);
  if (has_inference) table.vectors = project_vectors(model, images);
  return table;
}

// Where every image begins: the mean of all clusters.
std::vector<double> first_alpha(const DlgmmModel& model) {
  std::vector<double> alpha(model.means.cols(), 0.0);
  for (int j = 0; j < model.num_clusters(); ++j)
    for (int64_t c = 0; c < model.means.cols(); ++c)
      alpha[c] += model.weights[j] * model.means(j, c);
  return alpha;
}

double largest_move(std::span<const double> a, std::span<const double> b) {
  double moved = 0;
  for (size_t i = 0; i < a.size(); ++i) moved = std::max(moved, std::abs(a[i] - b[i]));
  return moved;
}

struct InferenceScratch {
  PassScratch pass;
  ImageScratch image;
  std::vector<double> counts, old_zeta, old_alpha;
};

// Shares of the image's patches at `alpha`, and its counts.
void count_words(const ImageTable& table, int64_t d, const WordScorer& scorer,
                 std::span<const double> alpha, const PassOptions& options, InferenceScratch& s) {
  PatchShares& shares = s.pass.shares;
  score_image(table, d, scorer, alpha, options, s.pass);
  update_shares(shares, 0, shares.num_patches());
  const auto num_words = static_cast<int64_t>(scorer.constants.size());
  if (options.gamma > 0) {
    s.pass.coherence.dense.assign(num_words, 0.0);
    s.pass.coherence.has_diagonals = options.has_diagonals;
    sweep_coherence(shares, neighborhood_of(table, d, 0), options.gamma, options.coherence_sweeps,
                    s.pass.coherence);
  }
  s.counts.assign(alpha.size(), 0.0);
  for (int64_t i = 0; i < shares.num_patches(); ++i)
    for (int64_t a = shares.first[i]; a < shares.first[i + 1]; ++a)
      s.counts[table.band(d, i) * num_words + shares.words[a]] += shares.phi[a];
}

void infer_image(const ImageTable& table, int64_t d, const DlgmmModel& model,
                 const WordScorer& scorer, const ClusterPrior& prior, const PassOptions& options,
                 std::span<double> zeta, std::span<double> alpha, InferenceScratch& s) {
  std::copy(model.weights.begin(), model.weights.end(), zeta.begin());
  ClusterStats unused(prior);
  for (int round = 0; round < kMaxRounds; ++round) {
    s.old_zeta.assign(zeta.begin(), zeta.end());
    s.old_alpha.assign(alpha.begin(), alpha.end());
    count_words(table, d, scorer, alpha, options, s);
    // Mean field keeps what it begins with: its own zeta draws theta, which confirms zeta. So it
    // begins where every cluster has had its own theta.
    const DlgmmPosterior posterior = round == 0 ? DlgmmPosterior::Structured : model.posterior;
    update_image(prior, posterior, model.kappa, s.counts, zeta, alpha, s.image, unused,
                 table.vector(d));
    if (largest_move(zeta, s.old_zeta) < kZetaTolerance &&
        largest_move(alpha, s.old_alpha) < kAlphaTolerance)
      break;
  }
}

PassOptions inference_options(const DlgmmModel& model) {
  const DlgmmOptions defaults;
  return {.word_loss = defaults.word_loss,
          .gamma = model.gamma,
          .coherence_sweeps = defaults.coherence_sweeps,
          .num_threads = 1,
          .has_diagonals = model.has_diagonals()};
}

}  // namespace

DlgmmPrediction infer_images(const DlgmmModel& model, const DlgmmImages& images, int num_threads,
                             Monitor& monitor) {
  return infer_own(model, check(model, images, num_threads, true), num_threads, monitor);
}

DlgmmPrediction internal::infer_own(const DlgmmModel& model, const ImageTable& table,
                                    int num_threads, Monitor& monitor) {
  const WordScorer scorer = make_word_scorer(model);
  const ClusterPrior prior = make_cluster_prior(model);
  const PassOptions options = inference_options(model);
  const std::vector<double> start = first_alpha(model);
  DlgmmPrediction out;
  const int64_t first = table.pass_begin(), count = table.pass_end() - first;
  out.labels.assign(count, -1);
  out.probabilities = Matrix<double>(count, model.num_clusters());
  out.alpha = Matrix<double>(count, model.means.cols());
  table.team->parallel_for(table.num_blocks(), 1, num_threads, [&](const Block& block) {
    InferenceScratch scratch;
    for (int64_t d = table.block_begin[block.index]; d < table.block_begin[block.index + 1]; ++d) {
      if (table.num_patches(d) == 0) continue;
      if (monitor.should_stop()) return;
      const std::span<double> zeta = out.probabilities.row_span(d - first);
      const std::span<double> alpha = out.alpha.row_span(d - first);
      std::copy(start.begin(), start.end(), alpha.begin());
      // All rounds of an image share its products, unless it is huge.
      scratch.pass.window_size = std::clamp(table.num_patches(d), kMinWindow, kMaxWindow);
      infer_image(table, d, model, scorer, prior, options, zeta, alpha, scratch);
      out.labels[d - first] = static_cast<int>(std::ranges::max_element(zeta) - zeta.begin());
    }
  });
  return out;
}

std::vector<int> predict(const DlgmmModel& model, FloatView points, int num_threads) {
  DlgmmImages images;
  images.patches = points;
  return infer_images(model, images, num_threads).labels;
}

namespace {

// Calls use(image, scratch) for every image that has patches, with the shares of its words at
// `alpha` in scratch.pass.shares and its counts.
template <class Use>
void for_each_image(const DlgmmModel& model, const DlgmmImages& images, DoubleView alpha,
                    int num_threads, const Monitor& monitor, Use&& use) {
  const ImageTable table = check(model, images, num_threads, false);
  require(alpha.rows() == table.num_images && alpha.cols() == model.means.cols(), [&] {
    return fmt::format("alpha is {} x {}, must be {} x {}", alpha.rows(), alpha.cols(),
                       table.num_images, model.means.cols());
  });
  const WordScorer scorer = make_word_scorer(model);
  const PassOptions options = inference_options(model);
  const auto num_blocks = static_cast<int64_t>(table.block_begin.size()) - 1;
  parallel_for(num_blocks, 1, num_threads, [&](const Block& block) {
    InferenceScratch scratch;
    for (int64_t d = table.block_begin[block.index]; d < table.block_begin[block.index + 1]; ++d) {
      if (monitor.should_stop()) return;
      if (table.num_patches(d) == 0) continue;
      count_words(table, d, scorer, alpha.row_span(d), options, scratch);
      use(table, d, scratch);
    }
  });
}

}  // namespace

std::vector<int> word_map(const DlgmmModel& model, const DlgmmImages& images, DoubleView alpha,
                          int num_threads, Monitor& monitor) {
  std::vector<int> words(images.patches.rows(), -1);
  for_each_image(model, images, alpha, num_threads, monitor,
                 [&](const ImageTable& table, int64_t d, const InferenceScratch& scratch) {
                   const PatchShares& shares = scratch.pass.shares;
                   for (int64_t i = 0; i < shares.num_patches(); ++i) {
                     const auto first = shares.phi.begin() + shares.first[i];
                     const auto best =
                         std::max_element(first, shares.phi.begin() + shares.first[i + 1]);
                     words[table.begin(d) + i] = shares.words[best - shares.phi.begin()];
                   }
                 });
  return words;
}

Matrix<float> word_shares(const DlgmmModel& model, const DlgmmImages& images, DoubleView alpha,
                          int num_threads, Monitor& monitor) {
  Matrix<float> phi(images.patches.rows(), model.num_words());
  for_each_image(model, images, alpha, num_threads, monitor,
                 [&](const ImageTable& table, int64_t d, const InferenceScratch& scratch) {
                   const PatchShares& shares = scratch.pass.shares;
                   for (int64_t i = 0; i < shares.num_patches(); ++i)
                     for (int64_t a = shares.first[i]; a < shares.first[i + 1]; ++a)
                       phi(table.begin(d) + i, shares.words[a]) = static_cast<float>(shares.phi[a]);
                 });
  return phi;
}

Matrix<double> word_counts(const DlgmmModel& model, const DlgmmImages& images, DoubleView alpha,
                           int num_threads, Monitor& monitor) {
  Matrix<double> counts(images.num_images(), model.means.cols());
  for_each_image(model, images, alpha, num_threads, monitor,
                 [&](const ImageTable&, int64_t d, const InferenceScratch& scratch) {
                   std::ranges::copy(scratch.counts, counts.row(d));
                 });
  return counts;
}

}  // namespace milieu

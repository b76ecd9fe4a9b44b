// SPDX-License-Identifier: Apache-2.0
// The pass over all patches. For a chunk of patches all scores come from one product in float;
// words that surely have no share are skipped; the few others are scored again in double, so that
// shares, statistics and the bound are those of exact arithmetic. phi lives for one image only.
#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/parallel.h"
#include "milieu/dlgmm/dlgmm_kernels.h"
#include "milieu/dlgmm/dlgmm_steps.h"
#include "milieu/linalg/gemm.h"
#include "milieu/linalg/log_sum_exp.h"

namespace milieu {

namespace {

constexpr double kFloatUnit = 6e-8;

// Copies patches [begin, end) about the centre, with the squares that free variances need. Returns
// the largest norm of a row.
double fill_chunk(FloatView patches, int64_t begin, int64_t end, const WordScorer& scorer,
                  Matrix<float>& chunk) {
  const int64_t dim = patches.cols();
  const int64_t width = scorer.factors.cols();
  double largest = 0;
  for (int64_t i = begin; i < end; ++i) {
    const float* from = patches.row(i);
    float* to = chunk.row(i - begin);
    const float squares = MILIEU_SELECT_ISA(dlgmm_center)(from, scorer.center.data(), dim, to);
    if (width == dim + 1)
      to[dim] = squares;
    else if (width == 2 * dim)
      for (int64_t r = 0; r < dim; ++r) to[dim + r] = to[r] * to[r];
    double norm = squares;
    for (int64_t r = dim; r < width; ++r)
      norm += static_cast<double>(to[r]) * static_cast<double>(to[r]);
    largest = std::max(largest, norm);
  }
  return std::sqrt(largest);
}

// What is added to a float score of each word in each band: alpha and the word's constant.
double fill_bias(const WordScorer& scorer, std::span<const double> alpha, int num_bands,
                 Matrix<float>& bias) {
  const auto num_words = static_cast<int64_t>(scorer.constants.size());
  if (bias.rows() != num_bands || bias.cols() != num_words)
    bias = Matrix<float>(num_bands, num_words);
  double largest = 0;
  for (int g = 0; g < num_bands; ++g)
    for (int64_t v = 0; v < num_words; ++v) {
      const double value = alpha[g * num_words + v] + scorer.float_constants[v];
      bias(g, v) = static_cast<float>(value);
      largest = std::max(largest, std::abs(value));
    }
  return largest;
}

// Adds the slope of gamma of image d, whose shares stand in the scratch.
void add_gamma_slope(const ImageTable& table, int64_t d, const PassOptions& options,
                     std::span<const double> alpha, PassScratch& scratch, WordStats& stats) {
  const auto num_words = static_cast<int64_t>(alpha.size()) / table.num_bands;
  Matrix<double> frequencies(table.num_bands, num_words);
  for (int g = 0; g < table.num_bands; ++g) {
    const std::span<const double> theta = alpha.subspan(g * num_words, num_words);
    const double log_sum = log_sum_exp(theta);
    for (int64_t v = 0; v < num_words; ++v) frequencies(g, v) = std::exp(theta[v] - log_sum);
  }
  std::vector<int> bands(table.num_patches(d));
  for (size_t i = 0; i < bands.size(); ++i) bands[i] = table.band(d, static_cast<int64_t>(i));
  const GammaSlope found =
      coherence_slope(scratch.shares, 0, table.images.grid(d, 0), table.images.grid(d, 1),
                      options.gamma, frequencies, bands, scratch.coherence);
  stats.gamma_slope += found.slope;
  stats.gamma_curvature += found.curvature;
}

// Finishes image d, whose candidates stand in the scratch: shares, statistics, counts.
void finish_image(const ImageTable& table, int64_t d, const WordScorer& scorer,
                  std::span<const double> alpha, const PassOptions& options, PassScratch& scratch,
                  std::span<double> counts, WordStats& stats) {
  PatchShares& shares = scratch.shares;
  const int64_t num_patches = shares.num_patches();
  update_shares(shares, 0, num_patches);
  if (options.gamma > 0) {
    const int64_t rows = table.images.grid(d, 0);
    const int64_t cols = table.images.grid(d, 1);
    scratch.coherence.dense.assign(scorer.constants.size(), 0.0);
    sweep_coherence(shares, 0, rows, cols, options.gamma, options.coherence_sweeps,
                    scratch.coherence);
    stats.agreement += neighbor_agreement(shares, 0, rows, cols, scratch.coherence) -
                       static_cast<double>(num_neighbors(rows, cols));
    if (options.learns_gamma) add_gamma_slope(table, d, options, alpha, scratch, stats);
  }
  const auto num_words = static_cast<int64_t>(scorer.constants.size());
  double entropy = 0;
  for (int64_t i = 0; i < num_patches; ++i) {
    const int64_t first = shares.first[i];
    const int64_t count = shares.first[i + 1] - first;
    stats.add(table.images.patches.row(table.begin(d) + i), scorer.words,
              {shares.words.data() + first, static_cast<size_t>(count)},
              {shares.phi.data() + first, static_cast<size_t>(count)},
              {shares.distances.data() + first, static_cast<size_t>(count)});
    const int64_t band = table.band(d, i) * num_words;
    for (int64_t a = first; a < first + count; ++a) {
      counts[band + shares.words[a]] += shares.phi[a];
      entropy -= shares.phi[a] > 0 ? shares.phi[a] * shares.log_phi[a] : 0.0;
    }
  }
  stats.entropy += entropy;
}

// Products of patches from `begin` on with all words, as far as the scratch may reach.
void fill_window(const ImageTable& table, int64_t begin, int64_t end, const WordScorer& scorer,
                 PassScratch& scratch) {
  const auto num_words = static_cast<int64_t>(scorer.constants.size());
  if (scratch.chunk.rows() != scratch.window_size ||
      scratch.chunk.cols() != scorer.factors.cols() || scratch.products.cols() != num_words) {
    scratch.chunk = Matrix<float>(scratch.window_size, scorer.factors.cols());
    scratch.products = Matrix<float>(scratch.window_size, num_words);
  }
  scratch.window_begin = begin;
  scratch.window_end = std::min(begin + scratch.window_size, std::max(end, scratch.reach));
  const int64_t count = scratch.window_end - begin;
  scratch.window_norm =
      fill_chunk(table.images.patches, begin, scratch.window_end, scorer, scratch.chunk);
  gemm_nt(1, scratch.chunk.view().rows_between(0, count), scorer.factors, 0,
          scratch.products.view().rows_between(0, count));
}

// The words of patch i that may have a share, into scratch.candidates; returns how many.
int64_t select_words(const WordScorer& scorer, int64_t i, int band, double cut, double largest_bias,
                     PassScratch& scratch) {
  const auto num_words = static_cast<int64_t>(scorer.constants.size());
  if (!std::isfinite(cut)) {
    for (int64_t v = 0; v < num_words; ++v) scratch.candidates[v] = static_cast<int>(v);
    return num_words;
  }
  const double error = kFloatUnit * (static_cast<double>(scorer.factors.cols()) *
                                         scratch.window_norm * scorer.largest_factor +
                                     2 * largest_bias);
  return MILIEU_SELECT_ISA(dlgmm_select)(
      scratch.products.row(i - scratch.window_begin), scratch.bias.row(band), num_words,
      static_cast<float>(cut + 2 * error), scratch.candidates.data());
}

// Scores in double of the candidates of patch i, behind those of the patches before it.
void append_patch(const ImageTable& table, int64_t i, const WordScorer& scorer,
                  std::span<const double> alpha, int64_t count, PassScratch& scratch) {
  PatchShares& shares = scratch.shares;
  const size_t at = shares.words.size();
  shares.words.insert(shares.words.end(), scratch.candidates.begin(),
                      scratch.candidates.begin() + count);
  shares.scores.resize(at + count);
  shares.distances.resize(at + count);
  const std::span<const int> words(shares.words.data() + at, count);
  const std::span<double> scores(shares.scores.data() + at, count);
  word_scores(scorer, table.images.patches.row(i), words,
              {shares.distances.data() + at, static_cast<size_t>(count)}, scores);
  for (int64_t a = 0; a < count; ++a) scores[a] += alpha[words[a]];
  shares.first.push_back(static_cast<int64_t>(shares.words.size()));
}

}  // namespace

double score_image(const ImageTable& table, int64_t d, const WordScorer& scorer,
                   std::span<const double> alpha, const PassOptions& options,
                   PassScratch& scratch) {
  const auto num_words = static_cast<int64_t>(scorer.constants.size());
  scratch.candidates.resize(num_words);
  const double largest_bias = fill_bias(scorer, alpha, table.num_bands, scratch.bias);
  // A word this far below the best has at most word_loss / V of the patch; neighbours can lift it
  // by 4 gamma.
  const double cut =
      options.word_loss > 0
          ? std::log(static_cast<double>(num_words) / options.word_loss) + 4 * options.gamma
          : INFINITY;
  for (int64_t i = table.begin(d); i < table.end(d); ++i) {
    if (i < scratch.window_begin || i >= scratch.window_end)
      fill_window(table, i, table.end(d), scorer, scratch);
    const int band = table.band(d, i - table.begin(d));
    const int64_t count = select_words(scorer, i, band, cut, largest_bias, scratch);
    append_patch(table, i, scorer, alpha.subspan(band * num_words, num_words), count, scratch);
  }
  return options.word_loss;
}

std::optional<PassResult> run_data_pass(const ImageTable& table, const DlgmmModel& model,
                                        DoubleView alpha, const PassOptions& options,
                                        Monitor& monitor) {
  const WordScorer scorer = make_word_scorer(model);
  const int64_t num_words = model.num_words();
  Matrix<double> counts(table.num_images, table.num_bands * num_words);
  const auto num_blocks = static_cast<int64_t>(table.block_begin.size()) - 1;
  WordStats stats = parallel_reduce(
      num_blocks, 1, options.num_threads,
      WordStats(num_words, model.words.cols(), model.word_variances.cols() > 1),
      [&](const Block& block, WordStats& part) {
        PassScratch scratch;
        scratch.reach = table.begin(table.block_begin[block.index + 1]);
        for (int64_t d = table.block_begin[block.index]; d < table.block_begin[block.index + 1];
             ++d) {
          if (monitor.should_stop()) return;
          scratch.shares.clear();
          const double loss = score_image(table, d, scorer, alpha.row_span(d), options, scratch);
          part.loss += loss * static_cast<double>(table.num_patches(d));
          finish_image(table, d, scorer, alpha.row_span(d), options, scratch, counts.row_span(d),
                       part);
        }
      },
      [](WordStats& total, const WordStats& part) { total.merge(part); });
  if (monitor.should_stop()) return std::nullopt;
  return PassResult{std::move(counts), std::move(stats)};
}

}  // namespace milieu

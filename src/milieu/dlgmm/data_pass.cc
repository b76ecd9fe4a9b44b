// SPDX-License-Identifier: Apache-2.0
// The pass over all patches. For a chunk of patches all scores come from one product in float;
// words that certainly have no share are skipped; the few others are scored again in double, so
// that shares, statistics and the bound are those of exact arithmetic. phi lives for a batch of
// patches (with gamma: of whole images), so that a word serves several patches while they are at
// hand.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>

#include "milieu/base/parallel.h"
#include "milieu/dlgmm/dlgmm_loops.h"
#include "milieu/dlgmm/dlgmm_steps.h"
#include "milieu/linalg/gemm.h"
#include "milieu/linalg/log_sum_exp.h"

namespace milieu::internal {

namespace {

constexpr double kFloatUnit = 6e-8;

// Rows [begin, end) of the patches, all of image d.
struct Piece {
  int64_t d = 0, begin = 0, end = 0;
};

// The products of all pairs of numbers of x, behind them.
void fill_products(float* x, int64_t dim) {
  float* to = x + dim;
  for (int64_t r = 0; r < dim; ++r)
    for (int64_t s = r; s < dim; ++s) *to++ = x[r] * x[s];
}

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
    else if (width > 2 * dim)
      fill_products(to, dim);
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

// Adds the slope of gamma of image d, whose shares are in the scratch from patch `at` on.
void add_gamma_slope(const ImageTable& table, int64_t d, int64_t at, const PassOptions& options,
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
  const GammaSlope found = coherence_slope(scratch.shares, neighborhood_of(table, d, at),
                                           options.gamma, frequencies, bands, scratch.coherence);
  stats.gamma_slope += found.slope;
  stats.gamma_curvature += found.curvature;
}

// Counts and entropy of a piece, whose shares are in the scratch from patch `at` on; with gamma
// it is a whole image, and the shares see their neighbours first.
void finish_piece(const ImageTable& table, const Piece& piece, int64_t at,
                  std::span<const double> alpha, const PassOptions& options, PassScratch& scratch,
                  std::span<double> counts, WordStats& stats) {
  PatchShares& shares = scratch.shares;
  const int64_t d = piece.d;
  const auto num_words = static_cast<int64_t>(alpha.size()) / table.num_bands;
  if (options.gamma > 0) {
    const Neighborhood hood = neighborhood_of(table, d, at);
    scratch.coherence.dense.assign(num_words, 0.0);
    scratch.coherence.has_diagonals = options.has_diagonals;
    sweep_coherence(shares, hood, options.gamma, options.coherence_sweeps, scratch.coherence);
    stats.agreement += neighbor_agreement(shares, hood, scratch.coherence) -
                       static_cast<double>(hood.num_pairs(options.has_diagonals));
    if (options.learns_gamma) add_gamma_slope(table, d, at, options, alpha, scratch, stats);
  }
  double entropy = 0;
  for (int64_t i = piece.begin; i < piece.end; ++i, ++at) {
    double* band_counts = counts.data() + table.band(d, i - table.begin(d)) * num_words;
    for (int64_t a = shares.first[at]; a < shares.first[at + 1]; ++a) {
      band_counts[shares.words[a]] += shares.phi[a];
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

// The words of patch i that may have a share, into `words`; returns how many, at least one: all of
// them where floats do not decide (patches so large that scores overflow, NaN).
int64_t select_words(const WordScorer& scorer, int64_t i, int band, double cut, double largest_bias,
                     const PassScratch& scratch, int* words) {
  const auto num_words = static_cast<int64_t>(scorer.constants.size());
  const double error = kFloatUnit * (static_cast<double>(scorer.factors.cols()) *
                                         scratch.window_norm * scorer.largest_factor +
                                     2 * largest_bias);
  int64_t found = 0;
  if (std::isfinite(cut))
    found = MILIEU_SELECT_ISA(dlgmm_select)(scratch.products.row(i - scratch.window_begin),
                                            scratch.bias.row(band), num_words,
                                            static_cast<float>(cut + 2 * error), words);
  if (found > 0) return found;
  std::iota(words, words + num_words, 0);
  return num_words;
}

int64_t most_neighbors(const ImageTable& table, const PassOptions& options) {
  if (!table.near_first.empty()) return table.most_neighbors;
  return options.has_diagonals ? 8 : 4;
}

// Candidate words of a piece, behind those of the pieces before it; returns the bound of the share
// of the skipped words in each patch.
double select_piece(const ImageTable& table, const Piece& piece, const WordScorer& scorer,
                    std::span<const double> alpha, const PassOptions& options,
                    PassScratch& scratch) {
  const auto num_words = static_cast<int64_t>(scorer.constants.size());
  PatchShares& shares = scratch.shares;
  const double largest_bias = fill_bias(scorer, alpha, table.num_bands, scratch.bias);
  // A word this far below the best has at most word_loss / V of the patch; neighbours can lift it
  // by gamma each.
  const double cut = options.word_loss > 0
                         ? std::log(static_cast<double>(num_words) / options.word_loss) +
                               static_cast<double>(most_neighbors(table, options)) * options.gamma
                         : INFINITY;
  for (int64_t i = piece.begin; i < piece.end; ++i) {
    if (i < scratch.window_begin || i >= scratch.window_end)
      fill_window(table, i, piece.end, scorer, scratch);
    const int64_t at = shares.first.back();
    const auto room = static_cast<size_t>(at + num_words + kSelectSlack);
    if (shares.words.size() < room) shares.words.resize(2 * room);
    const int band = table.band(piece.d, i - table.begin(piece.d));
    shares.first.push_back(
        at + select_words(scorer, i, band, cut, largest_bias, scratch, shares.words.data() + at));
  }
  return options.word_loss;
}

// Adds alpha to the scores of a piece, which begin at patch `at`.
void add_alpha(const ImageTable& table, const Piece& piece, int64_t at,
               std::span<const double> alpha, PatchShares& shares) {
  const int64_t num_words = static_cast<int64_t>(alpha.size()) / table.num_bands;
  for (int64_t i = piece.begin; i < piece.end; ++i, ++at) {
    const double* band_alpha =
        alpha.data() + table.band(piece.d, i - table.begin(piece.d)) * num_words;
    for (int64_t a = shares.first[at]; a < shares.first[at + 1]; ++a)
      shares.scores[a] += band_alpha[shares.words[a]];
  }
}

// Scratch that blocks pass on: its contents do not affect results.
class ScratchPool {
 public:
  std::unique_ptr<PassScratch> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<PassScratch>();
    std::unique_ptr<PassScratch> scratch = std::move(idle_.back());
    idle_.pop_back();
    return scratch;
  }
  void give(std::unique_ptr<PassScratch> scratch) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(scratch));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<PassScratch>> idle_;
};

// The next pieces of a block of images that ends at `last`, from row `begin` of image d on: one
// window of patches, or with gamma whole images up to about as many.
std::vector<Piece> next_batch(const ImageTable& table, int64_t d, int64_t begin, int64_t last,
                              int64_t size, bool is_whole) {
  std::vector<Piece> batch;
  const int64_t limit = begin + size;
  for (; d < last && begin < limit; ++d) {
    const int64_t end = is_whole ? table.end(d) : std::min(table.end(d), limit);
    batch.push_back({d, begin, end});
    begin = end;
    if (end < table.end(d)) break;
  }
  return batch;
}

// Shares, counts and statistics of a batch.
void run_batch(const ImageTable& table, const std::vector<Piece>& batch, const WordScorer& scorer,
               DoubleView alpha, const PassOptions& options, PassScratch& scratch,
               Matrix<double>& counts, WordStats& stats) {
  const auto row = [&](const Piece& piece) { return piece.d - table.pass_begin(); };
  PatchShares& shares = scratch.shares;
  shares.clear();
  for (const Piece& piece : batch)
    stats.loss += select_piece(table, piece, scorer, alpha.row_span(row(piece)), options, scratch) *
                  static_cast<double>(piece.end - piece.begin);
  const int64_t first = batch.front().begin;
  const FloatView patches = table.images.patches.rows_between(first, batch.back().end);
  score_pairs(scorer, patches, scratch.pairs, shares);
  for (const Piece& piece : batch)
    add_alpha(table, piece, piece.begin - first, alpha.row_span(row(piece)), shares);
  update_shares(shares, 0, shares.num_patches());
  for (const Piece& piece : batch)
    finish_piece(table, piece, piece.begin - first, alpha.row_span(row(piece)), options, scratch,
                 counts.row_span(row(piece)), stats);
  stats.add(patches, scorer.words, shares, scratch.pairs);
}

}  // namespace

double score_image(const ImageTable& table, int64_t d, const WordScorer& scorer,
                   std::span<const double> alpha, const PassOptions& options,
                   PassScratch& scratch) {
  scratch.shares.clear();
  const Piece image{d, table.begin(d), table.end(d)};
  const double loss = select_piece(table, image, scorer, alpha, options, scratch);
  score_pairs(scorer, table.images.patches.rows_between(image.begin, image.end), scratch.pairs,
              scratch.shares);
  add_alpha(table, image, 0, alpha, scratch.shares);
  return loss;
}

std::optional<PassResult> run_data_pass(const ImageTable& table, const DlgmmModel& model,
                                        DoubleView kept_alpha, const PassOptions& options,
                                        Monitor& monitor) {
  const bool is_shared = table.team->is_shared();
  const Matrix<double> moved = is_shared ? table.to_pass(kept_alpha) : Matrix<double>();
  const DoubleView alpha = is_shared ? moved.view() : kept_alpha;
  const WordScorer scorer = make_word_scorer(model);
  const int64_t num_words = model.num_words();
  Matrix<double> counts(table.pass_end() - table.pass_begin(), table.num_bands * num_words);
  ScratchPool pool;
  WordStats stats = table.team->parallel_reduce(
      table.num_blocks(), 1, options.num_threads,
      WordStats(num_words, model.words.cols(), model.word_variances.cols() > 1,
                model.has_full_words()),
      [&](const Block& block, WordStats& part) {
        std::unique_ptr<PassScratch> scratch = pool.take();
        scratch->window_begin = scratch->window_end = 0;  // a block makes all of its products
        const int64_t last = table.block_begin[block.index + 1];
        scratch->reach = table.begin(last);
        int64_t d = table.block_begin[block.index];
        for (int64_t row = table.begin(d); row < scratch->reach;) {
          if (monitor.should_stop()) return;
          const std::vector<Piece> batch =
              next_batch(table, d, row, last, scratch->window_size, options.gamma > 0);
          run_batch(table, batch, scorer, alpha, options, *scratch, counts, part);
          d = batch.back().d;
          row = batch.back().end;
          while (d < last && row == table.end(d)) ++d;
        }
        pool.give(std::move(scratch));
      },
      [](WordStats& total, const WordStats& part) { total.merge(part); });
  if (monitor.should_stop()) return std::nullopt;
  if (is_shared) counts = table.to_layer(counts);
  return PassResult{std::move(counts), std::move(stats)};
}

}  // namespace milieu::internal

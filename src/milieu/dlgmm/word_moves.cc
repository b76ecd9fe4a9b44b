// SPDX-License-Identifier: Apache-2.0
// Moves of words. k-means tends to split a frequent word between two centres and to leave two words
// near each other with one, and passes do not undo that. A word that covers two is visible: its
// patches spread along one axis, or lie to one side in some images and to the other in others. So
// a word that the others can replace becomes a half of such a word, as in [Ueda00], and stays there
// if the bound is higher after as many passes as without the move.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "milieu/dlgmm/dlgmm_run_internal.h"

namespace milieu::internal {

namespace {

constexpr int kPasses = 8;            // before bounds are compared
constexpr size_t kTriedSplits = 2;    // words to split for each of two reasons
constexpr size_t kTriedRemovals = 3;  // words to remove for each
constexpr double kMinCount = 1e-6;    // of a word in an image, to examine its patches

// Second moments of a word's patches: of all of them, and of their means in images.
struct WordSpread {
  Eigen::MatrixXd all, between;
  double mass = 0, images = 0;
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(all, between, mass, images);
  }
};

// A word to split, and where to.
struct Split {
  int64_t word = 0;
  double gain = 0;       // what a separate variance along the axis would add to the bound
  Eigen::VectorXd axis;  // one standard deviation of the word long
};

struct MoveChances {
  std::vector<double> cost;         // V: what removing each word would cost the bound
  std::vector<WordSpread> spreads;  // V
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(cost, spreads);
  }
};

double variance_of(const DlgmmModel& model, int64_t v) {
  const std::span<const double> row =
      model.word_variances.row_span(model.word_variances.rows() == 1 ? 0 : v);
  return std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
}

// Adds the shares of one image.
void add_image(const DlgmmModel& model, FloatView patches, const PatchShares& shares,
               MoveChances& chances) {
  const int64_t dim = model.words.cols();
  std::vector<double> counts(model.num_words(), 0.0);
  Matrix<double> sums(model.num_words(), dim);
  Eigen::VectorXd away(dim);
  for (int64_t i = 0; i < shares.num_patches(); ++i)
    for (int64_t a = shares.first[i]; a < shares.first[i + 1]; ++a) {
      const int v = shares.words[a];
      const double share = shares.phi[a];
      counts[v] += share;
      // A share of one has no replacement: it costs what the cut of the skipped words allows.
      chances.cost[v] -= std::log(std::max(1 - share, DlgmmOptions().word_loss));
      for (int64_t r = 0; r < dim; ++r) {
        away[r] = static_cast<double>(patches(i, r)) - model.words(v, r);
        sums(v, r) += share * away[r];
      }
      chances.spreads[v].all += share * away * away.transpose();
    }
  for (int64_t v = 0; v < model.num_words(); ++v) {
    if (counts[v] < kMinCount) continue;
    const Eigen::Map<const Eigen::VectorXd> sum(sums.row(v), dim);
    WordSpread& spread = chances.spreads[v];
    spread.between += sum * sum.transpose() / counts[v];
    spread.mass += counts[v];
    spread.images += 1;
  }
}

MoveChances find_chances(const DlgmmRun& run, const DlgmmState& state) {
  const DlgmmModel& model = state.model;
  const int64_t dim = model.words.cols();
  const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(dim, dim);
  const MoveChances none{std::vector<double>(model.num_words(), 0.0),
                         std::vector<WordSpread>(model.num_words(), WordSpread{zero, zero})};
  const WordScorer scorer = make_word_scorer(model);
  const ImageTable& table = run.table;
  return table.team->chain(none, [&](MoveChances& chances) {
    PassScratch scratch;
    for (int64_t d = table.own_begin(); d < table.own_end(); ++d) {
      if (table.num_patches(d) == 0) continue;
      score_image(table, d, scorer, state.alpha.row_span(d - table.own_begin()),
                  run.pass_options(0), scratch);
      update_shares(scratch.shares, 0, scratch.shares.num_patches());
      add_image(model, table.images.patches.rows_between(table.begin(d), table.end(d)),
                scratch.shares, chances);
    }
  });
}

// A Gaussian of `count` numbers whose second moment is `sum` gains this by its own variance.
Split make_split(int64_t word, const Eigen::MatrixXd& sum, double count, double variance) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(sum / (variance * count));
  const Eigen::Index last = sum.rows() - 1;
  const double ratio = eigen.eigenvalues()[last];
  const double gain = ratio > 1 ? 0.5 * count * (ratio - 1 - std::log(ratio)) : 0;
  return {word, gain, std::sqrt(variance) * eigen.eigenvectors().col(last)};
}

// The words whose patches spread most, and those that differ most between images.
std::vector<Split> find_splits(const DlgmmModel& model, const MoveChances& chances) {
  std::vector<Split> found;
  for (const bool is_between : {false, true}) {
    std::vector<Split> splits;
    for (int64_t v = 0; v < model.num_words(); ++v) {
      const WordSpread& spread = chances.spreads[v];
      if (spread.images < 2) continue;
      splits.push_back(is_between
                           ? make_split(v, spread.between, spread.images, variance_of(model, v))
                           : make_split(v, spread.all, spread.mass, variance_of(model, v)));
    }
    std::ranges::stable_sort(splits, std::greater(), &Split::gain);
    splits.resize(std::min(splits.size(), kTriedSplits));
    found.insert(found.end(), splits.begin(), splits.end());
  }
  return found;
}

// The words whose loss costs least.
std::vector<int64_t> find_removals(const MoveChances& chances) {
  std::vector<int64_t> order(chances.cost.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int64_t v) { return chances.cost[v]; });
  order.resize(std::min(order.size(), kTriedRemovals));
  return order;
}

// Columns `taken` and `split` become halves of `split` in every band.
void halve_columns(int64_t num_words, int64_t taken, int64_t split, double change,
                   Matrix<double>& m) {
  for (int64_t row = 0; row < m.rows(); ++row)
    for (int64_t at = 0; at < m.cols(); at += num_words) {
      m(row, at + split) += change;
      m(row, at + taken) = m(row, at + split);
    }
}

// Word `taken` becomes a half of the word to split.
void move_word(const Split& halves, int64_t taken, DlgmmState& state) {
  DlgmmModel& model = state.model;
  const int64_t split = halves.word;
  for (int64_t r = 0; r < model.words.cols(); ++r) {
    model.words(taken, r) = model.words(split, r) + halves.axis[r];
    model.words(split, r) -= halves.axis[r];
  }
  if (model.word_variances.rows() > 1)
    std::ranges::copy(model.word_variances.row_span(split), model.word_variances.row(taken));
  const int64_t num_words = model.num_words();
  halve_columns(num_words, taken, split, -std::numbers::ln2, model.means);
  halve_columns(num_words, taken, split, -std::numbers::ln2, state.alpha);
  halve_columns(num_words, taken, split, 0, model.covariances);
}

// The bound after some passes; nothing when stopped.
std::optional<double> run_some(const DlgmmRun& run, Monitor& monitor, DlgmmState& state) {
  std::optional<PassReport> report;
  for (int pass = 0; pass < kPasses; ++pass) {
    report = make_pass(run, state, monitor);
    if (!report) return std::nullopt;
  }
  return report->bound.total();
}

// The first move that raises the bound; false when none of those tried does.
bool make_move(const DlgmmRun& run, double bound, Monitor& monitor, const DlgmmState& before,
               DlgmmState& state) {
  const MoveChances chances = find_chances(run, before);
  for (const Split& split : find_splits(before.model, chances))
    for (const int64_t taken : find_removals(chances)) {
      if (taken == split.word) continue;
      DlgmmState tried = before;
      move_word(split, taken, tried);
      const std::optional<double> found = run_some(run, monitor, tried);
      if (!found) return false;
      if (!(*found > bound)) continue;
      state = std::move(tried);
      return true;
    }
  return false;
}

// About how many multiplications a pass takes.
int64_t pass_cost(const DlgmmRun& run, const DlgmmModel& model) {
  constexpr int64_t kThetaStep = 100;  // for a word: some steps of Newton's method
  const FloatView patches = run.table.images.patches;
  const int64_t thetas = run.table.num_images * model.num_bands *
                         (model.posterior == DlgmmPosterior::Structured ? model.num_clusters() : 1);
  return model.num_words() * (patches.rows() * patches.cols() + kThetaStep * thetas);
}

// How many words may move.
int64_t move_limit(const DlgmmRun& run, const DlgmmModel& model) {
  constexpr int64_t kCheapPass = 2'000'000;
  constexpr int64_t kMinPatchesPerImage = 8;  // an image of fewer says little about its words
  const DlgmmOptions& options = run.options;
  if (options.word_moves >= 0) return options.word_moves;
  const bool is_wanted =
      options.batch_images == 0 &&
      run.table.images.patches.rows() >= kMinPatchesPerImage * run.table.num_images;
  const bool is_cheap = pass_cost(run, model) <= kCheapPass;
  return words_can_move(options) && is_wanted && is_cheap ? model.num_words() : 0;
}

}  // namespace

bool words_can_move(const DlgmmOptions& options) {
  const bool is_diagonal = options.covariance == DlgmmCovariance::Diagonal ||
                           options.covariance == DlgmmCovariance::TiedDiagonal;
  return is_diagonal && options.word_covariance != WordCovariance::Full && options.gamma == 0 &&
         options.fix == DlgmmFix::None;
}

void move_words(const DlgmmRun& run, DlgmmState& state, Monitor& monitor) {
  const int64_t limit = move_limit(run, state.model);
  Monitor stop_only(monitor);
  if (limit == 0 || state.model.num_words() < 2 || !run_some(run, stop_only, state)) return;
  for (int64_t move = 0; move < limit; ++move) {
    monitor.on_progress("moves of words", move, limit);
    const DlgmmState before = state;
    const std::optional<double> bound = run_some(run, stop_only, state);
    if (!bound || !make_move(run, *bound, stop_only, before, state)) return;
  }
}

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// --auto: cross-validation on the training set chooses the space, whether classes are split there,
// and how. Principal axes are found once, from all training rows: they use no class.
// 1. Whole classes: Gaussians on the first m axes, their own covariances or a pooled one (LDA).
// 2. Splits by ICC and by mixtures, each with a few classifiers on top, beside whole classes.
// 3. Of the best of these: moved samples, smaller sub-classes, other shrinkage, and for mixtures a
//    number of sub-classes for every class by itself.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "milieu/base/error.h"
#include "milieu/classify/class_labels.h"
#include "milieu/icc/icc_choose_internal.h"
#include "milieu/icc/icc_classifier_internal.h"
#include "milieu/linalg/log_sum_exp.h"
#include "milieu/linalg/pca.h"

namespace milieu {

namespace {

using namespace internal;

constexpr int kMostAxes = 512;
constexpr double kClearLead = 0.5;   // standard errors: near ties go to the simplest
constexpr int kMostCountRounds = 3;  // over all classes
const std::vector<int> kCounts = {1, 2, 3, 5, 8, 13};

// The samples of a choice, as rows and on their principal axes.
struct Samples {
  const IccClassifierInput& input;
  Matrix<float> axes;  // n x m

  // Rows on the first `dims` axes.
  Matrix<float> gather(std::span<const int64_t> rows, int64_t dims) const {
    Matrix<float> out(static_cast<int64_t>(rows.size()), std::min(dims, axes.cols()));
    for (int64_t r = 0; r < out.rows(); ++r) std::copy_n(axes.row(rows[r]), out.cols(), out.row(r));
    return out;
  }
  Matrix<float> gather(std::span<const int64_t> rows) const {
    Matrix<float> out(static_cast<int64_t>(rows.size()), input.points.cols());
    for (int64_t r = 0; r < out.rows(); ++r)
      std::copy_n(input.points.row(rows[r]), out.cols(), out.row(r));
    return out;
  }
};

std::vector<int> classes_of(const Samples& samples, std::span<const int64_t> rows) {
  std::vector<int> classes;
  for (const int64_t row : rows) classes.push_back(samples.input.classes[row]);
  return classes;
}

// Sub-classes that differ: what decides them, without the classifier on top.
std::string split_key(const IccClassifierOptions& o) {
  if (o.split == IccSplit::None) return "none";
  return fmt::format("{} {} {} {} {} {} {} {} {}", static_cast<int>(o.split), o.em_count,
                     o.icc.bandwidth, static_cast<int>(o.icc.weight), o.icc.num_dims,
                     static_cast<int>(o.icc.climb), o.icc.min_size,
                     static_cast<int>(o.icc.projection), o.icc.components);
}

Subclasses split_fold(const Samples& samples, const Fold& fold, const std::vector<int>& classes,
                      IccClassifierOptions options, Monitor& monitor) {
  options.refine = 0;
  const IccOptions& icc = options.icc;
  const bool is_on_axes =
      icc.projection == IccProjection::Pca && icc.components.empty() && !icc.standardize;
  const Matrix<float> points =
      is_on_axes ? samples.gather(fold.train, icc.num_dims) : samples.gather(fold.train);
  if (is_on_axes) options.icc.projection = IccProjection::None;
  return find_subclasses({points, classes}, options, monitor);
}

// A classifier on sub-classes, in the space of its options.
IccClassifierModel fit_fold(const Samples& samples, const Fold& fold,
                            const std::vector<int>& classes, Subclasses subclasses,
                            const IccClassifierOptions& options, Monitor& monitor) {
  const Matrix<float> points =
      samples.gather(fold.train, options.pca_dims > 0 ? options.pca_dims : samples.axes.cols());
  refine({points, classes}, options, subclasses, monitor);
  return fit_on_subclasses({points, classes}, subclasses, options);
}

TestFold test_candidates(const Samples& samples, const std::vector<Candidate>& candidates,
                         int num_threads, Monitor& monitor) {
  return [&samples, &candidates, num_threads, &monitor](
             const Fold& fold, const std::vector<char>& is_racing, const Report& report) {
    const std::vector<int> classes = classes_of(samples, fold.train);
    std::string key;
    Subclasses subclasses;
    for (size_t c = 0; c < candidates.size() && !monitor.should_stop(); ++c) {
      if (!is_racing[c]) continue;
      const IccClassifierOptions& options = candidates[c].options;
      if (std::string own = split_key(options); own != key) {
        subclasses = split_fold(samples, fold, classes, options, monitor);
        key = std::move(own);
      }
      const IccClassifierModel model =
          fit_fold(samples, fold, classes, subclasses, options, monitor);
      report(c, predict(model, samples.gather(fold.test, model.axes.cols()), num_threads));
    }
  };
}

Samples samples_of(const IccClassifierInput& input) {
  const int64_t most = std::min({input.points.rows(), input.points.cols(), int64_t{kMostAxes}});
  return {input, project(fit_pca(input.points, static_cast<int>(most)), input.points)};
}

// Held-out log densities of every class, n x classes, with `count` mixture components in each.
Matrix<double> held_out_scores(const Samples& samples, const Candidate& candidate, int count,
                               const std::vector<Fold>& folds, Monitor& monitor) {
  IccClassifierOptions options = candidate.options;
  options.em_count = std::to_string(count);
  Matrix<double> scores;
  for (const Fold& fold : folds) {
    if (monitor.should_stop()) break;
    const std::vector<int> classes = classes_of(samples, fold.train);
    const IccClassifierModel model =
        fit_fold(samples, fold, classes, split_fold(samples, fold, classes, options, monitor),
                 options, monitor);
    const Matrix<double> own = class_scores(
        model.classifier, project(model, samples.gather(fold.test, model.axes.cols())));
    if (scores.empty()) scores = Matrix<double>(samples.axes.rows(), own.cols());
    for (size_t r = 0; r < fold.test.size(); ++r)
      std::copy_n(own.row(static_cast<int64_t>(r)), own.cols(), scores.row(fold.test[r]));
  }
  return scores;
}

// Sum of the log posteriors of the true classes when class c has its chosen count.
double log_posterior(const std::vector<Matrix<double>>& scores, const std::vector<size_t>& chosen,
                     const std::vector<Fold>& folds, std::span<const int> classes) {
  double sum = 0;
  std::vector<double> row(chosen.size());
  for (const Fold& fold : folds)
    for (const int64_t i : fold.test) {
      for (size_t c = 0; c < row.size(); ++c)
        row[c] = scores[chosen[c]](i, static_cast<int64_t>(c));
      sum += row[classes[i]] - log_sum_exp(row);
    }
  return sum;
}

// The winner's mixtures with a number of components for every class by itself: one class after the
// other takes the count that makes the held-out posteriors largest. Only where all counts share a
// space; nothing if all classes keep one count.
std::optional<Candidate> counts_per_class(const Samples& samples, const Candidate& winner,
                                          const IccClassifierOptions& options, Monitor& monitor) {
  if (winner.options.split != IccSplit::Em || winner.options.reduce == IccReduce::Lda)
    return std::nullopt;
  Random random = Random(options.icc.seed).child(2);
  const std::vector<Fold> folds = folds_of(samples.input, options.folds, random);
  std::vector<Matrix<double>> scores;
  for (const int count : kCounts)
    scores.push_back(held_out_scores(samples, winner, count, folds, monitor));
  if (monitor.should_stop() || scores[0].empty()) return std::nullopt;
  const auto num_classes = static_cast<size_t>(scores[0].cols());
  const auto start = std::ranges::find(kCounts, std::stoi(winner.options.em_count));
  std::vector<size_t> chosen(num_classes, static_cast<size_t>(start - kCounts.begin()));
  double best = log_posterior(scores, chosen, folds, samples.input.classes);
  for (int round = 0; round < kMostCountRounds; ++round) {
    const std::vector<size_t> before = chosen;
    for (size_t& count : chosen)
      for (size_t k = 0, kept = count; k < kCounts.size(); ++k) {
        count = k;
        const double value = log_posterior(scores, chosen, folds, samples.input.classes);
        if (value > best) best = value, kept = k;
        count = kept;
      }
    if (chosen == before) break;
  }
  std::vector<int> counts;
  for (const size_t k : chosen) counts.push_back(kCounts[k]);
  if (std::ranges::count(counts, counts[0]) == static_cast<int64_t>(counts.size()))
    return std::nullopt;
  Candidate own = winner;
  own.options.em_count = fmt::format("{}", fmt::join(counts, ","));
  own.text = fmt::format("{}, per class {}", winner.text, own.options.em_count);
  return own;
}

}  // namespace

IccClassifierChoice choose_icc_options(const IccClassifierInput& input,
                                       const IccClassifierOptions& options, Monitor& monitor) {
  const Samples samples = samples_of(input);
  const auto run = [&](const std::vector<Candidate>& candidates) {
    return race(input, options, candidates.size(),
                test_candidates(samples, candidates, options.icc.num_threads, monitor), monitor);
  };
  const std::vector<SpaceChoice> all = spaces(samples.axes.cols(), input.points.rows());
  const Race whole = race(input, options, all.size(),
                          test_spaces(samples.axes, input.classes, options.priors, all), monitor);
  const Candidate simple = whole_classes(options, all[whole.winner]);
  IccClassifierChoice choice{simple.options, simple.text, whole.accuracy, whole.is_complete};
  if (!whole.is_complete) return choice;
  std::vector<Candidate> candidates = candidates_of(input, options, all[whole.winner].num_dims);
  const Race first = run(candidates);
  const Candidate winner = candidates[first.winner];
  candidates = refinements_of(winner);
  if (const auto own = counts_per_class(samples, winner, options, monitor))
    candidates.push_back(*own);
  const Race last = run(candidates);
  choice.is_complete = first.is_complete && last.is_complete;
  if (choice.is_complete && lead_of(whole, last) > kClearLead)
    choice = {candidates[last.winner].options, candidates[last.winner].text, last.accuracy, true};
  return choice;
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Evidence on held-out samples: the best classifier of whole classes, and the same with the parts
// of one class. The gain of a class is that of replacing its column of held-out scores.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "milieu/classify/class_labels.h"
#include "milieu/icc/advise/icc_advise_internal.h"
#include "milieu/icc/icc_choose_internal.h"
#include "milieu/icc/icc_classifier_internal.h"

namespace milieu::internal {

namespace {

constexpr double kGainLevel = 0.05;  // of options.level: two ways to split are tried
constexpr int kFolds = 5;
constexpr const char* kContextBandwidth = "0.08";

// The sub-classes of some rows; those without a row are left out.
Subclasses of_rows(const Subclasses& all, std::span<const int64_t> rows) {
  std::vector<int> number(all.class_from_subclass.size(), -1);
  for (const int64_t row : rows) number[all.labels[row]] = 0;
  Subclasses kept;
  for (size_t s = 0; s < number.size(); ++s) {
    if (number[s] < 0) continue;
    number[s] = static_cast<int>(kept.class_from_subclass.size());
    kept.class_from_subclass.push_back(all.class_from_subclass[s]);
  }
  for (const int64_t row : rows) kept.labels.push_back(number[all.labels[row]]);
  return kept;
}

using SplitFold = std::function<Subclasses(const Fold&)>;

// Held-out log densities of the classes, n x classes.
Matrix<double> held_out_scores(const Space& space, const SpaceChoice& choice,
                               const std::vector<Fold>& folds, const SplitFold& split,
                               const Monitor& monitor) {
  Matrix<double> scores(space.rows.rows(), space.num_classes);
  IccClassifierOptions options;
  options.reduce = IccReduce::None;
  options.shrinkage = choice.shrinkage;
  for (const Fold& fold : folds) {
    if (monitor.should_stop()) break;
    const Matrix<float> points = gather(space.rows, fold.train, choice.num_dims);
    std::vector<int> classes;
    for (const int64_t row : fold.train) classes.push_back(space.classes[row]);
    const IccClassifierModel model = fit_on_subclasses({points, classes}, split(fold), options);
    const Matrix<double> own =
        class_scores(model.classifier, widen(gather(space.rows, fold.test, choice.num_dims)));
    for (size_t r = 0; r < fold.test.size(); ++r)
      std::copy_n(own.row(static_cast<int64_t>(r)), own.cols(), scores.row(fold.test[r]));
  }
  return scores;
}

// P(X >= wins) of `wins + losses` fair coins.
double sign_test(int64_t wins, int64_t losses) {
  const auto n = static_cast<double>(wins + losses);
  double p = 0;
  for (int64_t k = wins; k <= wins + losses; ++k)
    p += std::exp(std::lgamma(n + 1) - std::lgamma(static_cast<double>(k) + 1) -
                  std::lgamma(n - static_cast<double>(k) + 1) - n * std::log(2.0));
  return std::min(1.0, p);
}

// What changes when column c of the scores is replaced: gain, its test and the class concerned.
void weigh(const Space& space, const Matrix<double>& whole, const Matrix<double>& split, int c,
           IccClassAdvice& advice) {
  std::map<int, int64_t> ended;
  int64_t wins = 0, losses = 0;
  Matrix<double> changed = whole;
  for (int64_t i = 0; i < whole.rows(); ++i) changed(i, c) = split(i, c);
  const std::vector<int> before = argmax_rows(whole), after = argmax_rows(changed);
  for (size_t i = 0; i < before.size(); ++i) {
    const int truth = space.classes[i];
    const bool was_right = before[i] == truth, is_right = after[i] == truth;
    if (was_right == is_right) continue;
    (is_right ? wins : losses) += 1;
    const int wrong = is_right ? before[i] : after[i];
    ended[truth == c ? wrong : truth] += is_right ? 1 : -1;
  }
  advice.gain = static_cast<double>(wins - losses) / static_cast<double>(before.size());
  advice.gain_p = sign_test(wins, losses);
  advice.context = -1;
  advice.ended_confusions = 0;
  for (const auto& [other, count] : ended)
    if (count > advice.ended_confusions) {
      advice.context = other;
      advice.ended_confusions = count;
    }
}

// ICC in the plane of the first two axes, or two Gaussians per class on the first axes.
Subclasses split_by_context(const Space& space, std::span<const int64_t> rows, IccSplit split,
                            const IccAdviseOptions& options, Monitor& monitor) {
  const Matrix<float> points =
      gather(space.rows, rows, split == IccSplit::Icc ? 2 : options.num_dims);
  std::vector<int> classes;
  for (const int64_t row : rows) classes.push_back(space.classes[row]);
  IccClassifierOptions icc;
  icc.split = split;
  icc.icc.projection = IccProjection::None;
  icc.icc.bandwidth = kContextBandwidth;
  icc.icc.weight = IccWeight::Density;
  icc.icc.min_size = options.min_size;
  icc.icc.num_threads = options.num_threads;
  return find_subclasses({points, classes}, icc, monitor);
}

// Classes without a gap take the parts of `context` where the gain is beyond chance. Gains count
// beside classes that are cut already.
void take_context(const Space& space, const IccAdviseOptions& options, const Matrix<double>& before,
                  const Matrix<double>& with_context, const Subclasses& context,
                  std::vector<std::vector<int>>& parts, IccAdvice& advice) {
  const std::vector<int> classes(space.classes.begin(), space.classes.end());
  for (int c = 0; c < space.num_classes; ++c) {
    IccClassAdvice& own = advice.classes[c];
    if (own.verdict != IccVerdict::Keep || context.num_subclasses[c] < 2) continue;
    IccClassAdvice found = own;
    weigh(space, before, with_context, c, found);
    if (found.gain <= 0 || found.gain_p > kGainLevel * options.level || found.context < 0) continue;
    own = found;
    own.verdict = IccVerdict::Context;
    const auto first = static_cast<int>(std::ranges::find(context.class_from_subclass, c) -
                                        context.class_from_subclass.begin());
    const std::vector<int64_t> members = rows_of(classes, c);
    for (size_t i = 0; i < members.size(); ++i) parts[c][i] = context.labels[members[i]] - first;
  }
}

}  // namespace

std::vector<int64_t> rows_of(const std::vector<int>& labels, int wanted) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i] == wanted) rows.push_back(static_cast<int64_t>(i));
  return rows;
}

Matrix<float> gather(const Matrix<float>& points, std::span<const int64_t> rows, int64_t dims) {
  Matrix<float> out(static_cast<int64_t>(rows.size()), std::min(dims, points.cols()));
  for (int64_t r = 0; r < out.rows(); ++r) std::copy_n(points.row(rows[r]), out.cols(), out.row(r));
  return out;
}

// Numbers parts class by class.
Subclasses number_parts(const Space& space, const std::vector<std::vector<int>>& parts) {
  Subclasses all;
  all.labels.assign(space.classes.size(), 0);
  std::vector<size_t> next(parts.size(), 0);
  std::vector<int> first(parts.size(), 0);
  for (size_t c = 0; c < parts.size(); ++c) {
    const int count = 1 + *std::ranges::max_element(parts[c]);
    first[c] = static_cast<int>(all.class_from_subclass.size());
    all.class_from_subclass.insert(all.class_from_subclass.end(), count, static_cast<int>(c));
    all.num_subclasses.push_back(count);
  }
  for (size_t i = 0; i < space.classes.size(); ++i) {
    const int c = space.classes[i];
    all.labels[i] = first[c] + parts[c][next[c]++];
  }
  return all;
}

void add_evidence(const Space& space, const IccAdviseOptions& options,
                  std::vector<std::vector<int>>& parts, IccAdvice& advice, Monitor& monitor) {
  const std::vector<int> classes(space.classes.begin(), space.classes.end());
  const IccClassifierInput input{space.rows, space.classes};
  IccClassifierOptions racing;
  racing.icc.seed = options.seed;
  std::vector<SpaceChoice> choices = spaces(space.rows.cols(), space.rows.rows());
  const Race best =
      race(input, racing, choices.size(),
           test_spaces(space.rows, space.classes, Priors::Frequency, choices), monitor);
  Random random = Random(options.seed).child(7);
  const std::vector<Fold> folds = folds_of(input, kFolds, random);
  const SpaceChoice choice = choices[best.winner];
  const auto scores = [&](const SplitFold& split) {
    return held_out_scores(space, choice, folds, split, monitor);
  };
  const auto of = [&](const Subclasses& all) {
    return [&](const Fold& fold) { return of_rows(all, fold.train); };
  };
  std::vector<std::vector<int>> none;
  for (const std::vector<int>& own : parts) none.emplace_back(own.size(), 0);
  const Subclasses whole = number_parts(space, none), gaps = number_parts(space, parts);
  const Matrix<double> before = scores(of(whole)), with_gaps = scores(of(gaps));
  for (int c = 0; c < space.num_classes && !monitor.should_stop(); ++c)
    if (advice.classes[c].verdict == IccVerdict::Split)
      weigh(space, before, with_gaps, c, advice.classes[c]);
  std::vector<int64_t> everything(classes.size());
  std::iota(everything.begin(), everything.end(), int64_t{0});
  for (const IccSplit split : {IccSplit::Icc, IccSplit::Em}) {
    const Matrix<double> with_context = scores([&](const Fold& fold) {
      return split_by_context(space, fold.train, split, options, monitor);
    });
    if (monitor.should_stop()) return;
    take_context(space, options, with_gaps, with_context,
                 split_by_context(space, everything, split, options, monitor), parts, advice);
  }
}

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// Cross-validation on the training set: folds, candidates, the choice.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/icc/icc_classifier_internal.h"

namespace milieu {

namespace {

constexpr int kSmallSize = 5;
constexpr int kRefineRounds = 5;

struct Candidate {
  IccClassifierOptions options;
  std::string text;
};

struct Axes {
  IccProjection projection;
  std::string components;
  std::string text;  // ", pca axes 1,3"
};

// The axes of the options, or with search_axes all pairs among the first three of both kinds, as
// far as there are so many.
std::vector<Axes> axes_of(const IccClassifierInput& input, const IccClassifierOptions& base) {
  if (!base.search_axes) return {{base.icc.projection, base.icc.components, ""}};
  const int64_t columns = std::min(input.points.rows(), input.points.cols());
  const int num_classes = 1 + *std::ranges::max_element(input.classes);
  std::vector<Axes> all;
  for (const IccProjection projection : {IccProjection::Pca, IccProjection::Lda}) {
    const bool is_pca = projection == IccProjection::Pca;
    const int64_t found = is_pca ? columns : std::min<int64_t>(columns, num_classes - 1);
    for (const char* pair : {"1,2", "1,3", "2,3"})
      if (pair[2] - '0' <= found)
        all.push_back(
            {projection, pair, fmt::format(", {} axes {}", is_pca ? "pca" : "lda", pair)});
  }
  if (all.empty()) all.push_back({base.icc.projection, base.icc.components, ""});
  return all;
}

// "No split" first: ties go to the simplest.
std::vector<Candidate> candidates_of(const IccClassifierInput& input,
                                     const IccClassifierOptions& base) {
  std::vector<Candidate> candidates;
  const auto add = [&](const std::string& text, const Axes& axes) -> IccClassifierOptions& {
    candidates.push_back({base, text + axes.text});
    IccClassifierOptions& options = candidates.back().options;
    options.automatic = false;
    options.icc.projection = axes.projection;
    options.icc.components = axes.components;
    return options;
  };
  add("no split", {base.icc.projection, base.icc.components, ""}).split = IccSplit::None;
  for (const Axes& axes : axes_of(input, base)) {
    if (base.split == IccSplit::Em) {
      for (const char* count : {"2", "3", "5", "8", "13"})
        add(fmt::format("em_count {}", count), axes).em_count = count;
    } else if (base.split == IccSplit::Icc) {
      for (const char* bandwidth : {"0.03", "0.04", "0.05", "0.06", "0.08", "0.1", "0.125"})
        for (const IccWeight weight : {IccWeight::Count, IccWeight::Density}) {
          IccClassifierOptions& options =
              add(fmt::format("bandwidth {}, weight {}", bandwidth,
                              weight == IccWeight::Count ? "count" : "density"),
                  axes);
          options.icc.bandwidth = bandwidth;
          options.icc.weight = weight;
        }
    }
  }
  return candidates;
}

}  // namespace

namespace internal {

std::vector<int> make_folds(std::span<const int> classes, std::span<const int> groups,
                            int num_folds, Random& random) {
  std::vector<int> folds(classes.size());
  if (!groups.empty()) {
    std::map<int, std::vector<size_t>> members;  // by group number
    for (size_t i = 0; i < groups.size(); ++i) members[groups[i]].push_back(i);
    std::vector<int> names;
    for (const auto& [name, rows] : members) names.push_back(name);
    random.shuffle(std::span<int>(names));
    for (size_t g = 0; g < names.size(); ++g)
      for (const size_t row : members[names[g]]) folds[row] = static_cast<int>(g % num_folds);
    return folds;
  }
  std::vector<size_t> order(classes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  random.shuffle(std::span<size_t>(order));
  std::ranges::stable_sort(order, {}, [&](size_t i) { return classes[i]; });
  for (size_t place = 0; place < order.size(); ++place)
    folds[order[place]] = static_cast<int>(place % num_folds);
  return folds;
}

bool split_rows(FloatView points, std::span<const int> classes, std::span<const int> groups,
                const std::vector<char>& is_test, TrainTest& parts) {
  const auto num_test = std::ranges::count(is_test, 1);
  parts.test = Matrix<float>(num_test, points.cols());
  parts.train = Matrix<float>(points.rows() - num_test, points.cols());
  parts.train_classes.clear();
  parts.test_classes.clear();
  parts.train_groups.clear();
  int64_t test = 0, train = 0;
  for (int64_t i = 0; i < points.rows(); ++i) {
    std::copy_n(points.row(i), points.cols(),
                is_test[i] ? parts.test.row(test++) : parts.train.row(train++));
    (is_test[i] ? parts.test_classes : parts.train_classes).push_back(classes[i]);
    if (!is_test[i] && !groups.empty()) parts.train_groups.push_back(groups[i]);
  }
  const int num_classes = *std::ranges::max_element(classes) + 1;
  std::vector<char> is_seen(num_classes, 0);
  for (const int c : parts.train_classes) is_seen[c] = 1;
  return num_test > 0 && std::ranges::find(is_seen, 0) == is_seen.end();
}

}  // namespace internal

namespace {

// Shares of the samples that each candidate classifies right, over the same folds. A stopped
// monitor leaves the rest at 0.
std::vector<double> cross_validate(const IccClassifierInput& input,
                                   const IccClassifierOptions& options,
                                   const std::vector<Candidate>& candidates, Monitor& monitor) {
  using namespace internal;
  std::vector<double> right(candidates.size(), 0);
  double tested = 0;
  Random random = Random(options.icc.seed).child(1);
  const std::vector<int> folds = make_folds(input.classes, input.groups, options.folds, random);
  TrainTest parts;
  for (int fold = 0; fold < options.folds; ++fold) {
    std::vector<char> is_test(folds.size());
    for (size_t i = 0; i < folds.size(); ++i) is_test[i] = folds[i] == fold;
    if (!split_rows(input.points, input.classes, {}, is_test, parts)) continue;
    tested += static_cast<double>(parts.test_classes.size());
    for (size_t c = 0; c < candidates.size(); ++c) {
      monitor.on_progress("cross-validation", static_cast<int64_t>(fold * candidates.size() + c),
                          static_cast<int64_t>(options.folds * candidates.size()));
      if (monitor.should_stop()) break;
      const IccClassifierInput train{parts.train, parts.train_classes};
      const IccClassifierModel model = fit_on_subclasses(
          train, find_subclasses(train, candidates[c].options, monitor), candidates[c].options);
      const std::vector<int> predicted = predict(model, parts.test, options.icc.num_threads);
      right[c] += accuracy_of(predicted, parts.test_classes) *
                  static_cast<double>(parts.test_classes.size());
    }
  }
  for (double& share : right) share /= std::max(1.0, tested);
  return right;
}

// The winner as it is, and with smaller sub-classes, moved samples, or both.
std::vector<Candidate> refinements_of(const Candidate& winner) {
  std::vector<Candidate> all = {winner};
  if (winner.options.split == IccSplit::None) return all;
  const bool has_smaller =
      winner.options.split == IccSplit::Icc && winner.options.icc.min_size > kSmallSize;
  for (const bool is_smaller : {false, true})
    for (const bool is_refined : {false, true}) {
      if ((is_smaller && !has_smaller) || (!is_smaller && !is_refined)) continue;
      Candidate candidate = winner;
      if (is_smaller) {
        candidate.options.icc.min_size = kSmallSize;
        candidate.text += fmt::format(", min_size {}", kSmallSize);
      }
      if (is_refined) {
        candidate.options.refine = kRefineRounds;
        candidate.text += fmt::format(", refine {}", kRefineRounds);
      }
      all.push_back(std::move(candidate));
    }
  return all;
}

}  // namespace

IccClassifierChoice choose_icc_options(const IccClassifierInput& input,
                                       const IccClassifierOptions& options, Monitor& monitor) {
  IccClassifierChoice choice;
  std::vector<Candidate> candidates = candidates_of(input, options);
  for (const bool is_last : {false, true}) {
    const std::vector<double> shares = cross_validate(input, options, candidates, monitor);
    const auto best = std::ranges::max_element(shares) - shares.begin();
    choice = {candidates[best].options, candidates[best].text, shares[best]};
    if (!is_last) candidates = refinements_of(candidates[best]);
    if (candidates.size() == 1) break;
  }
  return choice;
}

}  // namespace milieu

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

struct Candidate {
  IccClassifierOptions options;
  std::string text;
};

// "No split" first: ties go to the simplest.
std::vector<Candidate> candidates_of(const IccClassifierOptions& base) {
  std::vector<Candidate> candidates;
  const auto add = [&](const std::string& text) -> IccClassifierOptions& {
    candidates.push_back({base, text});
    candidates.back().options.automatic = false;
    return candidates.back().options;
  };
  add("no split").split = IccSplit::None;
  if (base.split == IccSplit::Em) {
    for (const char* count : {"2", "3", "5"})
      add(fmt::format("em_count {}", count)).em_count = count;
  } else if (base.split == IccSplit::Icc) {
    for (const char* bandwidth : {"0.03", "0.04", "0.05", "0.06", "0.08", "0.1", "0.125"})
      for (const IccWeight weight : {IccWeight::Count, IccWeight::Density}) {
        IccClassifierOptions& options =
            add(fmt::format("bandwidth {}, weight {}", bandwidth,
                            weight == IccWeight::Count ? "count" : "density"));
        options.icc.bandwidth = bandwidth;
        options.icc.weight = weight;
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

bool split_rows(FloatView points, std::span<const int> classes, const std::vector<char>& is_test,
                TrainTest& parts) {
  const auto num_test = std::ranges::count(is_test, 1);
  parts.test = Matrix<float>(num_test, points.cols());
  parts.train = Matrix<float>(points.rows() - num_test, points.cols());
  parts.train_classes.clear();
  parts.test_classes.clear();
  int64_t test = 0, train = 0;
  for (int64_t i = 0; i < points.rows(); ++i) {
    std::copy_n(points.row(i), points.cols(),
                is_test[i] ? parts.test.row(test++) : parts.train.row(train++));
    (is_test[i] ? parts.test_classes : parts.train_classes).push_back(classes[i]);
  }
  const int num_classes = *std::ranges::max_element(classes) + 1;
  std::vector<char> is_seen(num_classes, 0);
  for (const int c : parts.train_classes) is_seen[c] = 1;
  return num_test > 0 && std::ranges::find(is_seen, 0) == is_seen.end();
}

}  // namespace internal

IccClassifierChoice choose_icc_options(const IccClassifierInput& input,
                                       const IccClassifierOptions& options, Monitor& monitor) {
  using namespace internal;
  const std::vector<Candidate> candidates = candidates_of(options);
  std::vector<double> right(candidates.size(), 0);
  double tested = 0;
  Random random = Random(options.icc.seed).child(1);
  const std::vector<int> folds = make_folds(input.classes, {}, options.folds, random);
  TrainTest parts;
  for (int fold = 0; fold < options.folds; ++fold) {
    std::vector<char> is_test(folds.size());
    for (size_t i = 0; i < folds.size(); ++i) is_test[i] = folds[i] == fold;
    if (!split_rows(input.points, input.classes, is_test, parts)) continue;
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
  const auto best = std::ranges::max_element(right) - right.begin();
  return {candidates[best].options, candidates[best].text, tested > 0 ? right[best] / tested : 0};
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Folds of a cross-validation.
#include <algorithm>
#include <map>
#include <numeric>

#include "milieu/icc/icc_classifier_internal.h"

namespace milieu {

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

}  // namespace milieu

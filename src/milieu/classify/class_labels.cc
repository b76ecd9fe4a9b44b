// SPDX-License-Identifier: Apache-2.0
#include "milieu/classify/class_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/linalg/log_sum_exp.h"

namespace milieu {

std::vector<int64_t> count_classes(std::span<const int> labels, int64_t n) {
  require(static_cast<int64_t>(labels.size()) == n, [&] {
    return fmt::format("there are {} for {}: they must match", counted(labels.size(), "label"),
                       counted(n, "point"));
  });
  std::vector<int64_t> counts;
  for (size_t i = 0; i < labels.size(); ++i) {
    require(labels[i] >= 0, [&] {
      return fmt::format("labels: row {} has class {}: every row needs a class of 0 or more", i,
                         labels[i]);
    });
    if (labels[i] >= static_cast<int>(counts.size())) counts.resize(labels[i] + size_t{1}, 0);
    ++counts[labels[i]];
  }
  const auto empty = std::find(counts.begin(), counts.end(), 0);
  require(empty == counts.end(), [&] {
    return fmt::format("labels: class {} of {} has no rows: number the classes 0, 1, 2, ...",
                       empty - counts.begin(), counts.size());
  });
  return counts;
}

void normalize_log_scores(Matrix<double>& scores) {
  for (int64_t i = 0; i < scores.rows(); ++i) {
    const double total = log_sum_exp(scores.row_span(i));
    for (double& score : scores.row_span(i)) score = std::exp(score - total);
  }
}

std::vector<int> argmax_rows(DoubleView scores) {
  std::vector<int> best(scores.rows());
  for (int64_t i = 0; i < scores.rows(); ++i) {
    const auto row = scores.row_span(i);
    best[i] = static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin());
  }
  return best;
}

Matrix<double> widen(FloatView points) {
  Matrix<double> wide(points.rows(), points.cols());
  for (int64_t i = 0; i < points.rows(); ++i)
    std::copy_n(points.row(i), points.cols(), wide.row(i));
  return wide;
}

}  // namespace milieu

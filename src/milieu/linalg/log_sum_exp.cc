// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/log_sum_exp.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/linalg/exp_loops.h"
#include "milieu/linalg/isa.h"

namespace milieu {

double log_sum_exp(std::span<const double> values) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const double value : values) {
    if (std::isnan(value)) return value;
    if (value > largest) largest = value;
  }
  if (std::isinf(largest)) return largest;
  double sum = 0;
  for (const double value : values) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

void softmax_rows(MatrixView<float> block, std::span<double> log_sums) {
  require(static_cast<int64_t>(log_sums.size()) == block.rows(), [&] {
    return fmt::format("softmax_rows: log_sums has {}, the block {}: they must match",
                       counted(log_sums.size(), "entry", "entries"), counted(block.rows(), "row"));
  });
  require(block.cols() >= 1 || block.rows() == 0, "softmax_rows: rows must not be empty");
  const auto softmax_row = MILIEU_SELECT_ISA(softmax_row);
  for (int64_t i = 0; i < block.rows(); ++i) {
    double sum = 0;
    const float largest = softmax_row(block.row(i), block.cols(), &sum);
    log_sums[i] = static_cast<double>(largest) + std::log(sum);
  }
}

void exp_in_place(std::span<float> values) {
  MILIEU_SELECT_ISA(exp_values)(values.data(), static_cast<int64_t>(values.size()));
}

}  // namespace milieu

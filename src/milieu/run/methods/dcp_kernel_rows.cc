// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/methods/dcp_kernel_rows.h"

#include <fmt/format.h>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"

namespace milieu {

namespace {

// Columns `first`, then `second`, of each row.
Matrix<float> gather_columns(FloatView points, const std::vector<int64_t>& first,
                             const std::vector<int64_t>& second) {
  Matrix<float> out(points.rows(), std::ssize(first) + std::ssize(second));
  for (int64_t i = 0; i < points.rows(); ++i) {
    int64_t at = 0;
    for (const int64_t j : first) out(i, at++) = points(i, j);
    for (const int64_t j : second) out(i, at++) = points(i, j);
  }
  return out;
}

}  // namespace

KernelRows kernel_rows(const Input& input, const Dataset& context) {
  const int64_t rows = input.source ? input.source->num_rows() : 0;
  const FloatView points = input.data.points.view();
  if (input.data.rows.empty() || context.rows.empty())
    throw InvalidArgument(
        "kernel is precomputed: set and context must be rows of INPUT, by --select and "
        "--context-select or --rows and --context-rows");
  if (points.cols() != rows)
    throw DataError(fmt::format(
        "{} has {} rows and {}: with --kernel precomputed it must be square, the similarities of "
        "every row with all rows",
        input.source->source(), rows, counted(points.cols(), "column")));
  return {gather_columns(points, input.data.rows, context.rows),
          gather_columns(context.points.view(), input.data.rows, context.rows)};
}

}  // namespace milieu

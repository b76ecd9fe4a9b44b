// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/npy_result.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "milieu/data/format/npy.h"

namespace milieu {

ResultFile npy_result(std::string name, FloatView values) {
  const std::array<int64_t, 2> shape = {values.rows(), values.cols()};
  std::string content = npy_float_header(shape);
  const size_t begin = content.size(), bytes = sizeof(float) * static_cast<size_t>(values.cols());
  content.resize(begin + bytes * static_cast<size_t>(values.rows()));
  for (int64_t i = 0; i < values.rows() && bytes > 0; ++i)
    std::memcpy(content.data() + begin + bytes * static_cast<size_t>(i), values.row(i), bytes);
  return {std::move(name), std::move(content)};
}

ResultFile npy_result(std::string name, DoubleView values) {
  Matrix<float> narrow(values.rows(), values.cols());
  for (int64_t i = 0; i < values.rows(); ++i)
    std::ranges::transform(values.row_span(i), narrow.row(i),
                           [](double x) { return static_cast<float>(x); });
  return npy_result(std::move(name), narrow.view());
}

}  // namespace milieu

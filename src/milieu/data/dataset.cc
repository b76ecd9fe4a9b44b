// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/row_source.h"
#include "milieu/data/selection.h"

namespace milieu {

Dataset make_dataset(Points points, Labels labels, std::vector<std::string> names,
                     const std::string& source, const LoadOptions& options) {
  return RowSource::of(std::move(points), std::move(labels), std::move(names), source, options)
      .take(options.select, options.rows);
}

std::vector<int64_t> load_row_numbers(const std::string& path) {
  const Dataset file = load_dataset(path);
  const FloatView values = file.points.view();
  if (values.cols() != 1)
    throw DataError(fmt::format("{} has {}, must have one: row numbers", path,
                                counted(values.cols(), "column")));
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < values.rows(); ++i) {
    const float value = values(i, 0);
    // Whole numbers are exact in a float up to 2^24.
    if (!(value >= 0 && value <= (1 << 24)) || value != std::floor(value))
      throw DataError(fmt::format(
          "{} names row {} in entry {}, must be a whole number from 0 to 2^24", path, value, i));
    rows.push_back(static_cast<int64_t>(value));
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

Dataset load_dataset(const std::string& path, const LoadOptions& options) {
  return RowSource::open(path, options).take(options.select, options.rows);
}

}  // namespace milieu

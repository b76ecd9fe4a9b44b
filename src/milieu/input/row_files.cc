// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/row_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/selection.h"

namespace milieu {

namespace {

// The whole text must be a whole number: 3abc is not 3.
std::vector<int> whole_numbers(const Labels& labels, const std::string& path) {
  std::vector<int> values;
  for (const int index : labels.indices) {
    int value = -1;
    if (index >= 0) {
      const std::string& name = labels.names[static_cast<size_t>(index)];
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
      if (error != std::errc() || end != name.data() + name.size())
        throw DataError(fmt::format("{} has the label '{}', must be a whole number", path, name));
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace

Labels RowFiles::labels(const std::string& path) const {
  Labels labels = load_labels(path);
  check_length(path, static_cast<int64_t>(labels.indices.size()));
  return data_.rows.empty() ? labels : gather_labels(labels, data_.rows);
}

std::vector<double> RowFiles::weights(const std::string& path) const {
  const Dataset file = load_dataset(path);
  const FloatView values = file.points.view();
  if (values.cols() != 1)
    throw DataError(fmt::format("{} has {}, must have one: the weight of every row", path,
                                counted(values.cols(), "column")));
  check_length(path, values.rows());
  std::vector<double> weights(static_cast<size_t>(data_.points.rows()));
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = values(data_.rows.empty() ? static_cast<int64_t>(i) : data_.rows[i], 0);
  return weights;
}

Points RowFiles::matrix(const std::string& path) const {
  const Points points = load_dataset(path).points;
  check_length(path, points.rows());
  return data_.rows.empty() ? points : points.gather(data_.rows);
}

std::vector<int> RowFiles::parts(const std::string& path) const {
  return whole_numbers(labels(path), path);
}

int64_t RowFiles::kept_row(int64_t row) const {
  if (row < 0 || row >= num_rows()) return -1;
  if (data_.rows.empty()) return row;
  const auto found = std::lower_bound(data_.rows.begin(), data_.rows.end(), row);
  return found != data_.rows.end() && *found == row ? found - data_.rows.begin() : -1;
}

std::vector<std::pair<int64_t, int64_t>> RowFiles::pairs(const std::string& path) const {
  const Dataset file = load_dataset(path);
  const FloatView values = file.points.view();
  if (values.cols() != 2)
    throw DataError(fmt::format("{} has {}, must have 2: the rows of a pair", path,
                                counted(values.cols(), "column")));
  const auto place = [&](float value) {
    const auto row = static_cast<int64_t>(value);
    const int64_t kept = static_cast<float>(row) == value ? kept_row(row) : -1;
    if (kept < 0)
      throw DataError(fmt::format("{} names row {}, which is not a kept row", path, value));
    return kept;
  };
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t i = 0; i < values.rows(); ++i)
    pairs.emplace_back(place(values(i, 0)), place(values(i, 1)));
  return pairs;
}

void RowFiles::check_length(const std::string& path, int64_t length) const {
  if (length != num_rows())
    throw DataError(fmt::format("{} has {}, {} has {}: they must match", path,
                                counted(length, "row"), path_, num_rows()));
}

std::vector<double> load_numbers(const std::string& path) {
  const Dataset file = load_dataset(path);
  const FloatView values = file.points.view();
  if (values.cols() != 1 && values.rows() != 1)
    throw DataError(fmt::format("{} has {}, must have 1", path, counted(values.cols(), "column")));
  std::vector<double> numbers;
  for (int64_t i = 0; i < values.rows(); ++i)
    for (const float value : values.row_span(i)) numbers.push_back(value);
  return numbers;
}

std::vector<int> load_whole_labels(const std::string& path) {
  return whole_numbers(load_labels(path), path);
}

}  // namespace milieu

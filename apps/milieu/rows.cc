// SPDX-License-Identifier: Apache-2.0
#include "rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/data/selection.h"

namespace milieu::cli {

RowFiles::RowFiles(std::string path, const Dataset& data) : path_(std::move(path)), data_(data) {}

RowFiles::RowFiles(std::string path, const Dataset& data, LoadOptions options, Reload reload)
    : path_(std::move(path)),
      data_(data),
      options_(std::move(options)),
      reload_(std::move(reload)) {}

Labels RowFiles::all_labels() const {
  if (!options_.labels_path.empty()) return load_labels(options_.labels_path);
  LoadOptions options = options_;
  options.select.clear();
  options.rows.clear();
  return reload_(options).labels;
}

Dataset RowFiles::select(const std::string& classes) const {
  LoadOptions options = options_;
  options.select = classes;
  options.rows.clear();
  if (!options_.rows.empty())
    for (int64_t row = 0; row < num_rows(); ++row)
      if (!std::binary_search(options_.rows.begin(), options_.rows.end(), row))
        options.rows.push_back(row);
  return reload_(options);
}

Dataset RowFiles::numbered(const std::string& path) const {
  LoadOptions options = options_;
  options.select.clear();
  options.rows = load_row_numbers(path);
  return reload_(options);
}

Labels RowFiles::labels(const std::string& path) {
  Labels labels = load_labels(path);
  check_length(path, static_cast<int64_t>(labels.indices.size()));
  return data_.rows.empty() ? labels : gather_labels(labels, data_.rows);
}

std::vector<double> RowFiles::weights(const std::string& path) {
  const Dataset file = load_dataset(path);
  const FloatView values = file.points.view();
  if (values.cols() != 1)
    throw DataError(fmt::format("{} has {} columns, must have one: the weight of every row", path,
                                values.cols()));
  check_length(path, values.rows());
  std::vector<double> weights(static_cast<size_t>(data_.points.rows()));
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = values(data_.rows.empty() ? static_cast<int64_t>(i) : data_.rows[i], 0);
  return weights;
}

Points RowFiles::matrix(const std::string& path) {
  const Points points = load_dataset(path).points;
  check_length(path, points.rows());
  return data_.rows.empty() ? points : points.gather(data_.rows);
}

void RowFiles::check_length(const std::string& path, int64_t length) {
  if (length != num_rows())
    throw DataError(
        fmt::format("{} has {} rows, {} has {}: they must match", path, length, path_, num_rows()));
}

ImageSize parse_image_size(const std::string& text) {
  ImageSize size;
  if (text.empty()) return size;
  const char* end = text.data() + text.size();
  const auto [cross, error] = std::from_chars(text.data(), end, size.width);
  const bool has_cross = error == std::errc() && cross != end && *cross == 'x';
  const auto [rest, second_error] = std::from_chars(has_cross ? cross + 1 : end, end, size.height);
  if (!has_cross || second_error != std::errc() || rest != end || size.width < 1 || size.height < 1)
    throw InvalidArgument(fmt::format("image_size is '{}', must be WxH, such as 16x16", text));
  return size;
}

ImageSize image_size_of(const Dataset& data, const std::string& given) {
  const int64_t cols = data.points.cols();
  if (!given.empty()) {
    const ImageSize size = parse_image_size(given);
    if (int64_t{size.width} * size.height != cols)
      throw InvalidArgument(
          fmt::format("image_size is {}, but {} has {} columns: width times "
                      "height must give the columns",
                      given, data.source, cols));
    return size;
  }
  if (data.sample_shape.size() != 2) return {};
  return {.width = static_cast<int>(data.sample_shape[1]),
          .height = static_cast<int>(data.sample_shape[0])};
}

}  // namespace milieu::cli

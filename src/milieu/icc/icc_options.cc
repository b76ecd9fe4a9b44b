// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/memory.h"
#include "milieu/icc/icc_options_internal.h"

namespace milieu::internal {

namespace {

constexpr int kMinCells = 3;
constexpr int kMaxCells = 1'000'000;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

[[noreturn]] void refuse_bandwidth(const std::string& text, const std::string& rule) {
  throw InvalidArgument(fmt::format("bandwidth is '{}', {}", text, rule));
}

void check_matrix(const std::string& text, const std::vector<double>& m, int dims) {
  const auto at = [&](int r, int c) { return m[r * dims + c]; };
  for (int r = 0; r < dims; ++r)
    for (int c = 0; c < dims; ++c)
      if (at(r, c) != at(c, r)) refuse_bandwidth(text, "must be symmetric when it is a matrix");
  double minor = at(0, 0);
  bool is_positive = minor > 0;
  if (dims >= 2) is_positive &= at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0) > 0;
  if (dims == 3) {
    minor = at(0, 0) * (at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)) -
            at(0, 1) * (at(1, 0) * at(2, 2) - at(1, 2) * at(2, 0)) +
            at(0, 2) * (at(1, 0) * at(2, 1) - at(1, 1) * at(2, 0));
    is_positive &= minor > 0;
  }
  if (!is_positive)
    refuse_bandwidth(text, "must be positive definite when it is a matrix: it is a covariance");
}

}  // namespace

Grid parse_grid(const std::string& text, int dims) {
  Grid grid;
  for (const std::string_view part : split(text, 'x')) {
    int cells = 0;
    if (!parse_number(part, cells) || cells < kMinCells || cells > kMaxCells)
      throw InvalidArgument(
          fmt::format("grid is '{}', must be whole numbers from {} to {}, one for all axes or one "
                      "per axis: 100, 600x200",
                      text, kMinCells, kMaxCells));
    grid.size.push_back(cells);
  }
  if (grid.size.size() == 1) grid.size.assign(dims, grid.size[0]);
  if (grid.dims() != dims)
    throw InvalidArgument(fmt::format("grid is '{}', must have 1 or {} for {}", text,
                                      counted(dims, "number"), counted(dims, "dimension")));
  return grid;
}

AxisChoice parse_components(const IccOptions& options) {
  AxisChoice choice;
  if (options.components.empty()) {
    for (int a = 0; a < options.num_dims; ++a) choice.places.push_back(a);
    choice.num_needed = options.num_dims;
    return choice;
  }
  for (const std::string_view part : split(options.components, ',')) {
    int number = 0;
    if (!parse_number(part, number) || number < 1 ||
        std::ranges::find(choice.places, number - 1) != choice.places.end())
      throw InvalidArgument(
          fmt::format("components is '{}', must be different whole numbers of at least 1: 1,3",
                      options.components));
    choice.places.push_back(number - 1);
    choice.num_needed = std::max(choice.num_needed, number);
  }
  return choice;
}

Bandwidth parse_bandwidth(const std::string& text, int dims) {
  Bandwidth bandwidth;
  if (text == "auto") {
    bandwidth.is_auto = true;
    return bandwidth;
  }
  int num_in_cells = 0;
  for (std::string_view part : split(text, ',')) {
    if (!part.empty() && part.back() == 'c') {
      ++num_in_cells;
      part.remove_suffix(1);
    }
    double value = 0;
    if (!parse_number(part, value) || !std::isfinite(value))
      refuse_bandwidth(text, "must be numbers above 0, such as 0.05 or 8c, or auto");
    bandwidth.values.push_back(value);
  }
  const size_t count = bandwidth.values.size();
  const auto square = static_cast<size_t>(dims) * dims;
  if (num_in_cells != 0 && num_in_cells != static_cast<int>(count))
    refuse_bandwidth(text, "must be in cells for all axes or for none");
  bandwidth.is_in_cells = num_in_cells > 0;
  if (count != 1 && count != static_cast<size_t>(dims) && count != square)
    refuse_bandwidth(text, fmt::format("must have 1, {} or {} for {}", dims,
                                       counted(square, "number"), counted(dims, "dimension")));
  if (bandwidth.is_matrix(dims)) {
    if (bandwidth.is_in_cells) refuse_bandwidth(text, "must be fractions when it is a matrix");
    check_matrix(text, bandwidth.values, dims);
  } else if (std::ranges::any_of(bandwidth.values, [](double v) { return v <= 0; })) {
    refuse_bandwidth(text, "must be above 0");
  }
  return bandwidth;
}

std::vector<double> sigmas_in_cells(const Bandwidth& bandwidth, const Grid& grid) {
  std::vector<double> sigmas(grid.size.size());
  for (size_t a = 0; a < sigmas.size(); ++a) {
    const double value = bandwidth.values[bandwidth.values.size() == 1 ? 0 : a];
    sigmas[a] = bandwidth.is_in_cells ? value : value * grid.size[a];
  }
  return sigmas;
}

double map_gigabytes(const Grid& grid, int num_classes) {
  // A class: counts, smoothed counts, kept map, labels; work space: total, map, climb, regions.
  double cells = 1;
  for (const int extent : grid.size) cells *= extent;
  return cells * (24.0 * num_classes + 80.0) / 1e9;
}

void check_memory(const Grid& grid, int num_classes, double max_gb) {
  const double gigabytes = map_gigabytes(grid, num_classes);
  double cells = 1;
  for (const int extent : grid.size) cells *= extent;
  require(gigabytes <= max_gb && cells <= 2e9, [&] {
    return fmt::format(
        "max_memory_gb is {}, a grid of {:.0f} cells for {} takes about {:.3g} GB: use "
        "fewer "
        "cells or dimensions, or raise it",
        max_gb, cells, counted(num_classes, "class", "classes"), gigabytes);
  });
  require_memory({1e9 * gigabytes, fmt::format("the maps of {:.0f} cells", cells),
                  "use fewer cells or dimensions"});
}

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// What a report says about each part of a run: typical rows, rows at the border, what sets it
// apart.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/linalg/distance.h"
#include "milieu/neighbors/neighbors.h"
#include "milieu/report/run_view.h"

namespace milieu {

namespace {

constexpr size_t kShown = 24;         // typical rows and rows at the border
constexpr int kNamedColumns = 3;      // columns that a sentence names
constexpr double kClearEffect = 0.8;  // difference of means, in standard deviations
constexpr double kClearShare = 1.25;  // a class is named when it is this much more frequent
constexpr double kClearDistance = 1;  // of a part's mean from that of the rest, in its own spread

// Means of the parts, one row each; a part without rows keeps zeros.
Matrix<float> part_means(FloatView points, std::span<const int32_t> rows,
                         std::span<const int32_t> labels, int num_parts) {
  Matrix<double> sums(num_parts, points.cols());
  std::vector<int64_t> counts(static_cast<size_t>(num_parts));
  std::fill_n(sums.data(), sums.size(), 0.0);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (labels[i] < 0) continue;
    ++counts[static_cast<size_t>(labels[i])];
    for (int64_t j = 0; j < points.cols(); ++j) sums(labels[i], j) += points(rows[i], j);
  }
  Matrix<float> means(num_parts, points.cols());
  for (int k = 0; k < num_parts; ++k)
    for (int64_t j = 0; j < points.cols(); ++j)
      means(k, j) = static_cast<float>(
          sums(k, j) / static_cast<double>(std::max<int64_t>(1, counts[static_cast<size_t>(k)])));
  return means;
}

Matrix<float> gather_rows(FloatView points, std::span<const int32_t> rows) {
  Matrix<float> gathered(static_cast<int64_t>(rows.size()), points.cols());
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy_n(points.row(rows[i]), points.cols(), gathered.row(static_cast<int64_t>(i)));
  return gathered;
}

// Squared distance of each row from the mean of its own part; 0 where it has none.
std::vector<float> own_distances(FloatView points, std::span<const int32_t> rows,
                                 std::span<const int32_t> labels, const Matrix<float>& means) {
  std::vector<float> own(rows.size());
  for (size_t i = 0; i < rows.size(); ++i)
    if (labels[i] >= 0)
      own[i] = static_cast<float>(
          squared_distance(points.row(rows[i]), means.row(labels[i]), points.cols()));
  return own;
}

std::vector<int64_t> first_rows(std::vector<int64_t> places, const ViewColumns& columns,
                                const std::vector<float>& key) {
  const size_t count = std::min(kShown, places.size());
  std::partial_sort(places.begin(), places.begin() + static_cast<int64_t>(count), places.end(),
                    [&](int64_t a, int64_t b) {
                      const float x = key[static_cast<size_t>(a)], y = key[static_cast<size_t>(b)];
                      return x != y ? x < y : a < b;
                    });
  places.resize(count);
  for (int64_t& place : places) place = columns.rows[static_cast<size_t>(place)];
  return places;
}

// Mean and spread of each column over the rows that were split.
struct ColumnSpread {
  std::vector<double> mean, deviation;
};

ColumnSpread column_spread(FloatView points, std::span<const int32_t> rows) {
  ColumnSpread spread;
  const auto d = static_cast<size_t>(points.cols());
  spread.mean.assign(d, 0);
  spread.deviation.assign(d, 0);
  const double n = static_cast<double>(rows.size());
  for (const int32_t row : rows)
    for (size_t j = 0; j < d; ++j) spread.mean[j] += points(row, static_cast<int64_t>(j)) / n;
  for (const int32_t row : rows)
    for (size_t j = 0; j < d; ++j) {
      const double off = points(row, static_cast<int64_t>(j)) - spread.mean[j];
      spread.deviation[j] += off * off / n;
    }
  for (double& value : spread.deviation) value = std::sqrt(value);
  return spread;
}

// "mostly sand (71 %, against 35 % of the set)"
std::string class_words(const PartInfo& part, const Collection& collection,
                        const std::vector<int64_t>& class_totals, double total) {
  if (part.classes.empty() || part.members.empty()) return {};
  const auto& [name, count] = part.classes[0];
  const auto& names = collection.data().labels.names;
  const auto index =
      static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  const double here = static_cast<double>(count) / static_cast<double>(part.members.size());
  const double everywhere = static_cast<double>(class_totals[index]) / total;
  if (here < kClearShare * everywhere) return {};
  return fmt::format("{} {} ({:.0f} %, against {:.0f} % of the set)",
                     here >= 0.5 ? "mostly" : "more", name, 100 * here, 100 * everywhere);
}

// "high in columns 12, 40; low in column 3"
std::string column_words(std::span<const float> mean, const ColumnSpread& spread) {
  std::vector<std::pair<double, int64_t>> effects;
  for (size_t j = 0; j < mean.size(); ++j)
    if (spread.deviation[j] > 0)
      effects.emplace_back((mean[j] - spread.mean[j]) / spread.deviation[j],
                           static_cast<int64_t>(j));
  std::string text;
  for (const bool is_high : {true, false}) {
    std::sort(effects.begin(), effects.end(), [&](const auto& a, const auto& b) {
      return is_high ? a.first > b.first : a.first < b.first;
    });
    std::vector<int64_t> columns;
    for (size_t i = 0; i < effects.size() && columns.size() < kNamedColumns; ++i)
      if ((is_high ? effects[i].first : -effects[i].first) >= kClearEffect)
        columns.push_back(effects[i].second);
    if (columns.empty()) continue;
    text += fmt::format("{}{} in column{} {}", text.empty() ? "" : "; ", is_high ? "high" : "low",
                        columns.size() > 1 ? "s" : "", fmt::join(columns, ", "));
  }
  return text;
}

// "its mean lies 3.1 times its own spread from the mean of the rest"; "" where there is no rest.
// `own` are the members' squared distances from `mean`.
std::string distance_words(const PartInfo& part, std::span<const float> mean,
                           std::span<const float> own, const ColumnSpread& spread, double total) {
  const auto size = static_cast<double>(part.members.size());
  if (part.members.empty() || size >= total) return {};
  double within = 0, apart = 0;
  for (const int64_t i : part.members) within += own[static_cast<size_t>(i)] / size;
  for (size_t j = 0; j < mean.size(); ++j) {
    const double off = (mean[j] - spread.mean[j]) * total / (total - size);
    apart += off * off;
  }
  if (within <= 0) return "all its rows are the same";
  const double ratio = std::sqrt(apart / within);
  return fmt::format("its mean lies {}{:.1f} times its own spread from the mean of the rest",
                     ratio < kClearDistance ? "only " : "", ratio);
}

std::string as_sentence(const std::string& a, const std::string& b) {
  std::string text = a.empty() || b.empty() ? a + b : a + "; " + b;
  if (text.empty()) return "This is the whole set.";
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + ".";
}

}  // namespace

std::vector<float> mean_margins(FloatView points, std::span<const int32_t> rows,
                                std::span<const int32_t> labels, int num_parts) {
  const Matrix<float> means = part_means(points, rows, labels, num_parts);
  const std::vector<float> own = own_distances(points, rows, labels, means);
  std::vector<int32_t> present(labels.begin(), labels.end());  // parts that have rows
  std::sort(present.begin(), present.end());
  present.erase(std::unique(present.begin(), present.end()), present.end());
  std::erase_if(present, [](int32_t part) { return part < 0; });
  std::vector<float> margins(rows.size());
  if (present.empty()) return margins;
  const NeighborLists nearest =
      nearest_neighbors(gather_rows(means, present), gather_rows(points, rows), 2);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (labels[i] < 0) continue;
    double other = 0;  // a part that is alone has no rival to be nearer to
    for (int64_t k = nearest.indices.cols() - 1; k >= 0; --k)
      if (present[static_cast<size_t>(nearest.indices(static_cast<int64_t>(i), k))] != labels[i])
        other = nearest.squared_distances(static_cast<int64_t>(i), k);
    margins[i] = static_cast<float>(std::sqrt(other) - std::sqrt(double{own[i]}));
  }
  return margins;
}

std::vector<PartInfo> describe_parts(const ViewColumns& columns, const Collection& collection) {
  const FloatView points = collection.data().points.view();
  const Matrix<float> means = part_means(points, columns.rows, columns.labels, columns.num_parts);
  const std::vector<float> own = own_distances(points, columns.rows, columns.labels, means);
  const ColumnSpread spread = column_spread(points, columns.rows);
  std::vector<PartInfo> parts(static_cast<size_t>(columns.num_parts));
  for (size_t i = 0; i < columns.labels.size(); ++i)
    if (columns.labels[i] >= 0)
      parts[static_cast<size_t>(columns.labels[i])].members.push_back(static_cast<int64_t>(i));
  const auto& names = collection.data().labels.names;
  std::vector<int64_t> totals(names.size());
  for (const int32_t row : columns.rows)
    if (collection.class_of(row) >= 0) ++totals[static_cast<size_t>(collection.class_of(row))];
  for (size_t k = 0; k < parts.size(); ++k) {
    PartInfo& part = parts[k];
    part.index = static_cast<int>(k);
    std::vector<int64_t> counts(names.size());
    for (const int64_t i : part.members) {
      part.mean_margin +=
          columns.margins[static_cast<size_t>(i)] / static_cast<double>(part.members.size());
      const int index = collection.class_of(columns.rows[static_cast<size_t>(i)]);
      if (index >= 0) ++counts[static_cast<size_t>(index)];
    }
    part.typical = first_rows(part.members, columns, own);
    part.border = first_rows(part.members, columns, columns.margins);
    for (size_t c = 0; c < counts.size(); ++c)
      if (counts[c] > 0) part.classes.emplace_back(names[c], counts[c]);
    std::stable_sort(part.classes.begin(), part.classes.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    const auto total = static_cast<double>(columns.rows.size());
    const std::span<const float> mean = means.view().row_span(static_cast<int64_t>(k));
    std::string numbers = collection.has_image_files() ? "" : column_words(mean, spread);
    if (numbers.empty()) numbers = distance_words(part, mean, own, spread, total);
    part.apart = part.members.empty()
                     ? "No row belongs to it."
                     : as_sentence(class_words(part, collection, totals, total), numbers);
  }
  return parts;
}

NamedBy named_by(const std::vector<std::string>& part_names, const PartInfo& part) {
  const auto place = static_cast<size_t>(part.index);
  if (place < part_names.size() && !part_names[place].empty()) return NamedBy::Hand;
  return part.names.labels.empty() ? NamedBy::Number : NamedBy::Labels;
}

std::string part_name(const std::vector<std::string>& part_names, const PartInfo& part) {
  switch (named_by(part_names, part)) {
    case NamedBy::Hand:
      return part_names[static_cast<size_t>(part.index)];
    case NamedBy::Labels:
      return part.names.title();
    case NamedBy::Number:
      break;
  }
  return fmt::format("Part {}", part.index + 1);
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/format/csv_cells.h"
#include "milieu/data/format/numbers.h"
#include "milieu/data/printable.h"

namespace milieu {
namespace {

using namespace internal;

struct Range {
  int64_t first = 0;
  int64_t last = 0;
};

// "0-3" and "-2--1"; nothing for anything else.
std::optional<Range> parse_range(std::string_view item) {
  const size_t dash = item.find('-', 1);
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = parse_integer(trim(item.substr(0, dash)));
  const auto last = parse_integer(trim(item.substr(dash + 1)));
  if (!first || !last) return std::nullopt;
  return Range{*first, *last};
}

// Marks the classes that `item` means and returns how many they are.
int mark_classes(const std::string& item, const Labels& labels, std::vector<bool>& kept) {
  int count = 0;
  const auto mark = [&](size_t index) {
    kept[index] = true;
    ++count;
  };
  const auto named = std::find(labels.names.begin(), labels.names.end(), item);
  if (named != labels.names.end()) {
    mark(static_cast<size_t>(named - labels.names.begin()));
    return count;
  }
  const auto number = parse_whole_number(item);
  const auto range = parse_range(item);
  if (range && range->first > range->last)
    throw InvalidArgument(fmt::format("select has the range {}, must be from low to high", item));
  for (size_t i = 0; i < labels.names.size(); ++i) {
    const auto value = parse_integer(labels.names[i]);
    if (!value) continue;
    if (number == value || (range && *value >= range->first && *value <= range->last)) mark(i);
  }
  return count;
}

}  // namespace

std::vector<std::string> parse_selection(std::string_view text) {
  if (text.find('\n') != std::string_view::npos)
    throw InvalidArgument("select holds a line break, must be names separated by commas");
  std::vector<std::string> items;
  size_t at = 0;
  for (CellEnd end = CellEnd::Delimiter; end == CellEnd::Delimiter;) {
    Cell cell;
    end = read_cell(text, at, ',', cell);
    if (end == CellEnd::QuoteNeverClosed || end == CellEnd::TextAfterQuote)
      throw InvalidArgument(
          fmt::format("select is {}: a quote must open and close an item", printable(text)));
    if (cell.text.empty())
      throw InvalidArgument(
          fmt::format("select is \"{}\", must have a class between commas", printable(text)));
    items.push_back(cell.str());
  }
  return items;
}

std::string selection_item(const std::string& name) { return csv_cell(name); }

std::vector<bool> kept_classes(std::string_view selection, const Labels& labels,
                               const std::string& source) {
  std::vector<bool> kept(labels.names.size(), false);
  for (const std::string& item : parse_selection(selection))
    if (mark_classes(item, labels, kept) == 0 &&
        mark_classes(csv_unescaped(item), labels, kept) == 0)
      throw InvalidArgument(fmt::format("{} has no class \"{}\"; its classes are {}", source,
                                        printable(item), printable_list(labels.names)));
  return kept;
}

std::vector<int64_t> kept_rows(const Labels& labels, const std::vector<bool>& kept) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < labels.indices.size(); ++i) {
    const int index = labels.indices[i];
    if (index >= 0 && kept[static_cast<size_t>(index)]) rows.push_back(static_cast<int64_t>(i));
  }
  return rows;
}

Labels gather_labels(const Labels& labels, const std::vector<int64_t>& rows) {
  std::vector<bool> occurs(labels.names.size(), false);
  Labels gathered;
  for (const int64_t row : rows) {
    gathered.indices.push_back(labels.indices[static_cast<size_t>(row)]);
    if (gathered.indices.back() >= 0) occurs[static_cast<size_t>(gathered.indices.back())] = true;
  }
  std::vector<int> new_from_old(labels.names.size(), -1);
  for (size_t i = 0; i < labels.names.size(); ++i) {
    if (!occurs[i]) continue;
    new_from_old[i] = static_cast<int>(gathered.names.size());
    gathered.names.push_back(labels.names[i]);
  }
  for (int& index : gathered.indices)
    if (index >= 0) index = new_from_old[static_cast<size_t>(index)];
  return gathered;
}

}  // namespace milieu

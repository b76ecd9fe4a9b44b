// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/csv_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/format/csv_cells.h"
#include "milieu/data/format/numbers.h"
#include "milieu/data/printable.h"

namespace milieu {
namespace {

using namespace internal;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_number(const Cell& cell) { return parse_double(cell.text).has_value(); }

bool is_blank_line(std::string_view line) { return trim(line).empty(); }

// UTF-16 and binary files: not text as we read it.
void require_text(std::string_view text, const std::string& source) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    throw DataError(
        fmt::format("{} is UTF-16 text, must be UTF-8: save it again as UTF-8", source));
  const size_t zero = text.substr(0, 4096).find('\0');
  if (zero != std::string_view::npos)
    throw DataError(fmt::format("{} is not text: byte {} is zero", source, zero));
}

// Cuts away the byte order mark, comments and blank lines at the top, blank lines at the end.
void trim_body(std::string_view text, const std::string& source, CsvLayout& layout) {
  if (text.empty()) throw DataError(fmt::format("{} is empty (0 bytes)", source));
  require_text(text, source);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (;;) {
    std::string_view rest = text;
    const std::string_view line = take_line(rest);
    if (text.empty() || (!is_blank_line(line) && !line.starts_with('#'))) break;
    text = rest;
    ++layout.first_line;
  }
  while (!text.empty()) {
    const size_t line_break = text.rfind('\n');
    const size_t begin = line_break == std::string_view::npos ? 0 : line_break + 1;
    if (!is_blank_line(text.substr(begin))) break;
    text = text.substr(0, begin == 0 ? 0 : begin - 1);
  }
  if (text.empty()) throw DataError(fmt::format("{} has no rows", source));
  std::string_view rest = text;
  if (take_line(rest).find('\r') != std::string_view::npos)
    throw DataError(
        fmt::format("{}, line {}: a carriage return without a line feed; lines must end "
                    "in LF or CRLF",
                    source, layout.first_line));
  layout.body = text;
}

// The first of the candidates that occurs outside quotes.
char find_delimiter(std::string_view line, char otherwise) {
  for (const char candidate : {'\t', ';', ','}) {
    bool is_quoted = false;
    for (const char c : line) {
      if (c == '"') is_quoted = !is_quoted;
      if (c == candidate && !is_quoted) return candidate;
    }
  }
  return otherwise;
}

// First and second line as cells; no second line, no cells.
struct FirstLines {
  std::vector<Cell> first;
  std::vector<Cell> second;
};

FirstLines first_lines(const CsvLayout& layout) {
  std::string_view rest = layout.body;
  FirstLines lines;
  lines.first = split_line(take_line(rest), layout.delimiter);
  if (!rest.empty()) lines.second = split_line(take_line(rest), layout.delimiter);
  return lines;
}

// ",0,1,2": the header that pandas writes when columns have no names.
bool is_counted_header(const std::vector<Cell>& cells) {
  for (size_t j = 0; j < cells.size(); ++j)
    if (cells[j].text != (j == 0 ? std::string() : std::to_string(j - 1))) return false;
  return cells.size() >= 2;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// Starts as names do. "1,5", "7x", "?" and "n/a" are damaged or missing numbers, not names.
bool looks_like_name(const Cell& cell) {
  const std::string text = to_lower(cell.text);
  if (text.empty() || is_number(cell)) return false;
  const bool starts_well = (text[0] >= 'a' && text[0] <= 'z') || text[0] == '_' || (text[0] & 0x80);
  constexpr std::array<std::string_view, 5> kMissing = {"na", "n/a", "nil", "none", "null"};
  return starts_well && std::find(kMissing.begin(), kMissing.end(), text) == kMissing.end();
}

bool has_name_over_number(const FirstLines& lines) {
  for (size_t j = 0; j < std::min(lines.first.size(), lines.second.size()); ++j)
    if (looks_like_name(lines.first[j]) && is_number(lines.second[j])) return true;
  return false;
}

bool is_header(const FirstLines& lines, std::string_view label_column) {
  const auto& first = lines.first;
  const auto is_label_name = [&](const Cell& cell) { return cell.str() == label_column; };
  const bool names_label = !label_column.empty() && !parse_integer(label_column) &&
                           std::any_of(first.begin(), first.end(), is_label_name);
  return names_label || std::none_of(first.begin(), first.end(), is_number) ||
         has_name_over_number(lines) || is_counted_header(first);
}

// Takes the first line of the body away as the names of the columns.
void take_header(CsvLayout& layout, const std::vector<Cell>& cells, const std::string& source) {
  for (const Cell& cell : cells) {
    if (!is_utf8(cell.text))
      throw DataError(fmt::format("{}, line {}, column {}: the column name is not UTF-8 text",
                                  source, layout.first_line, layout.names.size() + 1));
    layout.names.push_back(cell.str());
  }
  take_line(layout.body);
  ++layout.first_line;
  if (layout.body.empty()) throw DataError(fmt::format("{} has a header and no rows", source));
}

bool is_label_word(std::string_view name) {
  const std::string lower = to_lower(name);
  return lower == "label" || lower == "class";
}

// The one column whose name fulfils `is_it`; two are a DataError.
template <class Predicate>
std::optional<size_t> find_column(const CsvLayout& layout, const std::string& source,
                                  Predicate is_it) {
  std::optional<size_t> found;
  for (size_t j = 0; j < layout.names.size(); ++j) {
    if (!is_it(layout.names[j])) continue;
    if (found)
      throw DataError(fmt::format(
          "{}: columns {} and {} are both named like the label column: give its number instead",
          source, *found + 1, j + 1));
    found = j;
  }
  return found;
}

// The column that the option names, by header or by number from either end.
size_t find_named_column(const CsvLayout& layout, const std::string& source,
                         const std::string& label_column) {
  const auto by_name =
      find_column(layout, source, [&](const std::string& name) { return name == label_column; });
  if (by_name) return *by_name;
  const int64_t columns = layout.num_columns();
  const int64_t number = parse_integer(label_column).value_or(0);
  if (number >= 1 && number <= columns) return static_cast<size_t>(number - 1);
  if (number <= -1 && number >= -columns) return static_cast<size_t>(columns + number);
  const std::string known =
      layout.names.empty()
          ? fmt::format(
                "{} has no header: must be 1 to {}, or -1 for the "
                "last column",
                source, columns)
          : fmt::format("{} has the columns {}", source, printable_list(layout.names));
  throw InvalidArgument(fmt::format("label_column is \"{}\", but {}", label_column, known));
}

}  // namespace

bool CsvLayout::has(ColumnRole role) const {
  return std::find(roles.begin(), roles.end(), role) != roles.end();
}

CsvLayout find_table_layout(std::string_view text, const std::string& source,
                            const CsvOptions& options) {
  CsvLayout layout;
  trim_body(text, source, layout);
  std::string_view rest = layout.body;
  layout.delimiter = options.delimiter != 0 ? options.delimiter
                                            : find_delimiter(take_line(rest), kBlanksDelimiter);
  const FirstLines lines = first_lines(layout);
  if (is_header(lines, options.label_column)) take_header(layout, lines.first, source);

  layout.roles.assign(lines.first.size(), ColumnRole::Number);
  if (!layout.names.empty() && layout.names.size() > 1 && layout.names[0].empty())
    layout.roles[0] = ColumnRole::RowName;
  if (!options.label_column.empty())
    layout.roles[find_named_column(layout, source, options.label_column)] = ColumnRole::Label;
  else if (const auto label = find_column(layout, source, is_label_word))
    layout.roles[*label] = ColumnRole::Label;
  if (!layout.has(ColumnRole::Number))
    throw DataError(fmt::format("{} has no columns of numbers beside its labels", source));
  return layout;
}

CsvLayout find_label_layout(std::string_view text, const std::string& source) {
  CsvLayout layout;
  trim_body(text, source, layout);
  std::string_view rest = layout.body;
  layout.delimiter = find_delimiter(take_line(rest), kNoDelimiter);
  const FirstLines lines = first_lines(layout);
  const bool is_list = lines.first.size() == 1;
  // In a list of names the first line is a name like the others, unless it says "label".
  const bool has_header = is_list
                              ? is_label_word(lines.first[0].str()) || has_name_over_number(lines)
                              : is_header(lines, {});
  if (has_header) take_header(layout, lines.first, source);
  layout.roles.assign(lines.first.size(), ColumnRole::Ignored);
  const auto label =
      is_list ? std::optional<size_t>(0) : find_column(layout, source, is_label_word);
  if (!label)
    throw DataError(
        fmt::format("{} has {} and none is named label: name one in a header "
                    "line, or keep one column only",
                    source, counted(layout.num_columns(), "column")));
  layout.roles[*label] = ColumnRole::Label;
  return layout;
}

std::string cell_place(const CsvLayout& layout, const std::string& source, int64_t line,
                       int64_t column) {
  std::string place = fmt::format("{}, line {}, column {}", source, line, column + 1);
  if (!layout.names.empty() && !layout.names[static_cast<size_t>(column)].empty())
    place += fmt::format(" ({})", printable(layout.names[static_cast<size_t>(column)]));
  return place;
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/csv_cells.h"

#include <algorithm>

namespace milieu::internal {
namespace {

void skip_blanks(std::string_view line, size_t& at, char delimiter) {
  while (at < line.size() && is_blank(line[at], delimiter)) ++at;
}

// `at` is behind a cell: over the delimiter to the next one.
CellEnd finish_cell(std::string_view line, size_t& at, char delimiter) {
  const size_t cell_end = at;
  skip_blanks(line, at, delimiter);
  if (at == line.size()) return CellEnd::LineEnd;
  if (delimiter == kBlanksDelimiter)
    return at > cell_end ? CellEnd::Delimiter : CellEnd::TextAfterQuote;
  if (line[at] != delimiter) return CellEnd::TextAfterQuote;
  ++at;
  return CellEnd::Delimiter;
}

CellEnd read_quoted_cell(std::string_view line, size_t& at, char delimiter, Cell& cell) {
  const size_t begin = ++at;
  cell.is_quoted = true;
  for (;;) {
    at = line.find('"', at);
    if (at == std::string_view::npos) {
      at = line.size();
      cell.text = line.substr(begin);
      return CellEnd::QuoteNeverClosed;
    }
    if (at + 1 >= line.size() || line[at + 1] != '"') break;
    cell.has_doubled = true;
    at += 2;
  }
  cell.text = line.substr(begin, at - begin);
  ++at;
  return finish_cell(line, at, delimiter);
}

}  // namespace

std::string Cell::str() const {
  std::string out(text);
  if (!has_doubled) return out;
  size_t to = 0;
  for (size_t from = 0; from < out.size(); ++from, ++to) {
    out[to] = out[from];
    if (out[from] == '"') ++from;
  }
  out.resize(to);
  return out;
}

CellEnd read_cell(std::string_view line, size_t& at, char delimiter, Cell& cell) {
  cell = {};
  skip_blanks(line, at, delimiter);
  if (at < line.size() && line[at] == '"') return read_quoted_cell(line, at, delimiter, cell);
  const size_t begin = at;
  if (delimiter == kBlanksDelimiter)
    while (at < line.size() && !is_blank(line[at], delimiter)) ++at;
  else
    at = std::min(line.find(delimiter, at), line.size());
  size_t end = at;
  while (end > begin && is_blank(line[end - 1], delimiter)) --end;
  cell.text = line.substr(begin, end - begin);
  return finish_cell(line, at, delimiter);
}

std::vector<Cell> split_line(std::string_view line, char delimiter) {
  std::vector<Cell> cells;
  size_t at = 0;
  for (CellEnd end = CellEnd::Delimiter; end == CellEnd::Delimiter;) {
    Cell cell;
    end = read_cell(line, at, delimiter, cell);
    cells.push_back(cell);
  }
  return cells;
}

std::string_view take_line(std::string_view& text) {
  const size_t length = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// One line of a text table, cell by cell.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace milieu::internal {

inline constexpr char kBlanksDelimiter = ' ';  // cells are separated by runs of blanks
inline constexpr char kNoDelimiter = '\n';     // the whole line is one cell

struct Cell {
  std::string_view text;  // without surrounding blanks and quotes
  bool is_quoted = false;
  bool has_doubled = false;  // some quotes inside are doubled

  std::string str() const;  // with doubled quotes made single
};

// What follows a cell.
enum class CellEnd { Delimiter, LineEnd, QuoteNeverClosed, TextAfterQuote };

// Reads the cell that starts at `at` and moves `at` behind the delimiter (or to the end).
CellEnd read_cell(std::string_view line, size_t& at, char delimiter, Cell& cell);

// All cells of a line; errors in its quotes are left to the reader of the data.
std::vector<Cell> split_line(std::string_view line, char delimiter);

// Blanks that surround cells: spaces, and tabs where they do not separate cells.
inline bool is_blank(char c, char delimiter) {
  return c == ' ' || (c == '\t' && delimiter != '\t');
}

// The line at the start of `text` without its line end (LF or CRLF); `text` moves to the next line.
std::string_view take_line(std::string_view& text);

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// The one way this program writes cells into its own CSV files, and reads those files back: one
// record per line, RFC 4180 quotes, control characters as \xNN. Tables that users bring are read by
// format/csv.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// `text` as a cell: quoted where it has commas, quotes or blanks at its ends, or starts with '#'.
// Control characters become \xNN, and so do a backslash that would read as one, and a first
// character that would make a spreadsheet run the cell as a formula ('=', '+', '@').
std::string csv_cell(std::string_view text);
// `text` with every \xNN as the character it stands for.
std::string csv_unescaped(const std::string& text);

// A table of ours, row by row:
//
//   CsvWriter table;
//   table.row("candidate", "weight");
//   table.row(name, 0.25);
class CsvWriter {
 public:
  // Numbers as the shortest text that reads back as the same number, other texts by csv_cell; an
  // optional without a value is a cell without a character.
  CsvWriter& cell(std::string_view text);
  CsvWriter& cell(double number);
  CsvWriter& cell(float number);
  CsvWriter& cell(int64_t number);
  template <std::integral Integer>
  CsvWriter& cell(Integer number) {
    return cell(static_cast<int64_t>(number));
  }
  CsvWriter& cell(const char* text) { return cell(std::string_view(text)); }
  CsvWriter& cell(const std::string& text) { return cell(std::string_view(text)); }
  template <class Value>
  CsvWriter& cell(const std::optional<Value>& value) {
    return value ? cell(*value) : raw("");
  }
  void end_row();
  template <class... Cells>
  void row(const Cells&... cells) {
    (cell(cells), ...);
    end_row();
  }

  const std::string& text() const { return text_; }

 private:
  CsvWriter& raw(std::string_view text);

  std::string text_;
  bool has_cell_ = false;  // of the row that is being written
};

// The records of `text` without the header line, cells as csv_cell took them. A file that was
// damaged gives odd cells, never a failure.
std::vector<std::vector<std::string>> read_csv_records(std::string_view text);

}  // namespace milieu

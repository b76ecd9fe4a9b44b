// SPDX-License-Identifier: Apache-2.0
// What the first lines of a text table say about the rest: delimiter, header, meaning of columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/format/csv.h"

namespace MILIEU_API milieu {

enum class ColumnRole { Number, Label, RowName, Ignored };

struct CsvLayout {
  char delimiter = ',';
  std::vector<ColumnRole> roles;   // one per column
  std::vector<std::string> names;  // likewise; empty without a header
  std::string_view body;           // the lines of data, without blank lines at the end
  int64_t first_line = 1;          // number in the file of the body's first line

  int64_t num_columns() const { return static_cast<int64_t>(roles.size()); }
  bool has(ColumnRole role) const;
};

// For a table of points. The body has at least one line.
CsvLayout find_table_layout(std::string_view text, const std::string& source,
                            const CsvOptions& options);

// For a label file: one label per line, or a table with a column named "label" or "class", of which
// all other columns are ignored. The body has at least one line.
CsvLayout find_label_layout(std::string_view text, const std::string& source);

// "iris.csv, line 3, column 5 (species)".
std::string cell_place(const CsvLayout& layout, const std::string& source, int64_t line,
                       int64_t column);

}  // namespace milieu

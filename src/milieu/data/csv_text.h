// SPDX-License-Identifier: Apache-2.0
// The one way this program writes cells into its own CSV files, and reads those files back: one
// record per line, RFC 4180 quotes, control characters as \xNN. Tables that users bring are read by
// format/csv.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace milieu {

// `text` as a cell: quoted where it has commas, quotes or blanks at its ends, or starts with '#'.
// Control characters become \xNN, and so do a backslash that would read as one, and a first
// character that would make a spreadsheet run the cell as a formula ('=', '+', '@').
std::string csv_cell(std::string_view text);
// `text` with every \xNN as the character it stands for.
std::string csv_unescaped(const std::string& text);

// The records of `text` without the header line, cells as csv_cell took them. A file that was
// damaged gives odd cells, never a failure.
std::vector<std::vector<std::string>> read_csv_records(std::string_view text);

}  // namespace milieu

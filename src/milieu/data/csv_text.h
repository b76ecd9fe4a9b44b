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
// Control characters become \xNN, and so does a backslash that would read as one.
std::string csv_cell(std::string_view text);

// The records of `text` without the header line, cells as csv_cell took them. A file that was
// damaged gives odd cells, never a failure.
std::vector<std::vector<std::string>> read_csv_records(std::string_view text);

}  // namespace milieu

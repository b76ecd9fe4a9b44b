// SPDX-License-Identifier: Apache-2.0
// The tables of a run folder, cell by cell.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "milieu/data/csv_text.h"
#include "milieu/data/text_file.h"

namespace milieu::internal {

using Table = std::vector<std::vector<std::string>>;

// Without the header; empty when there is no such file.
inline Table read_table(const std::string& path) {
  return read_csv_records(try_read_text_file(path).value_or(""));
}

// -1 for anything but a whole number.
inline int32_t whole_number(const std::string& text) {
  int32_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// labels.csv: one sample a line. docs/format.md describes it.
#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <string_view>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/store/run_folder.h"

namespace milieu {

namespace {

bool is_control(char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f; }

// A CSV cell that takes one line and reads back: quoted where RFC 4180 asks for it and around
// blanks at the ends, which readers strip. Line breaks and other control characters become \xNN.
void append_csv_cell(fmt::memory_buffer& out, std::string_view text) {
  const bool needs_quotes = text.empty() || text.find_first_of(",\"") != std::string_view::npos ||
                            std::strchr(" \t#", text.front()) || std::strchr(" \t", text.back());
  if (needs_quotes) out.push_back('"');
  for (char c : text) {
    if (is_control(c)) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
      continue;
    }
    if (c == '"') out.push_back('"');
    out.push_back(c);
  }
  if (needs_quotes) out.push_back('"');
}

void check_length(size_t given, size_t expected, const char* name) {
  require(given == 0 || given == expected, [&] {
    return fmt::format("{} has {} entries, labels has {}: they must match", name, given, expected);
  });
}

}  // namespace

void write_labels_csv(const std::string& path, std::span<const int> labels,
                      const std::vector<std::string>& names, std::span<const int64_t> rows) {
  check_length(names.size(), labels.size(), "names");
  check_length(rows.size(), labels.size(), "rows");
  AtomicFile file(path);
  fmt::memory_buffer line;
  file.write("sample,label\n");
  for (size_t i = 0; i < labels.size(); ++i) {
    line.clear();
    if (!names.empty()) {
      append_csv_cell(line, names[i]);
    } else {
      fmt::format_to(std::back_inserter(line), "{}",
                     rows.empty() ? static_cast<int64_t>(i) : rows[i]);
    }
    fmt::format_to(std::back_inserter(line), ",{}\n", labels[i]);
    file.write(line.data(), line.size());
  }
  file.commit();
}

}  // namespace milieu

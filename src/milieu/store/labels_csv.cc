// SPDX-License-Identifier: Apache-2.0
// labels.csv: one sample a line. docs/format.md describes it.
#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <string_view>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/store/labels_csv.h"
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

// Who is labelled: by name, else by row number, else by place.
struct Samples {
  const std::vector<std::string>& names;
  std::span<const int64_t> rows;

  void check(size_t num_labels) const {
    check_length(names.size(), num_labels, "names");
    check_length(rows.size(), num_labels, "rows");
  }
  void append_line(fmt::memory_buffer& out, size_t i, int label) const {
    if (!names.empty())
      append_csv_cell(out, names[i]);
    else
      fmt::format_to(std::back_inserter(out), "{}",
                     rows.empty() ? static_cast<int64_t>(i) : rows[i]);
    fmt::format_to(std::back_inserter(out), ",{}\n", label);
  }
};

constexpr std::string_view kHeader = "sample,label\n";

}  // namespace

std::string labels_csv_text(std::span<const int> labels, const std::vector<std::string>& names,
                            std::span<const int64_t> rows) {
  const Samples samples{names, rows};
  samples.check(labels.size());
  fmt::memory_buffer text;
  text.append(kHeader);
  for (size_t i = 0; i < labels.size(); ++i) samples.append_line(text, i, labels[i]);
  return fmt::to_string(text);
}

void write_labels_csv(const std::string& path, std::span<const int> labels,
                      const std::vector<std::string>& names, std::span<const int64_t> rows) {
  const Samples samples{names, rows};
  samples.check(labels.size());
  AtomicFile file(path);
  file.write(kHeader);
  fmt::memory_buffer line;
  for (size_t i = 0; i < labels.size(); ++i) {
    line.clear();
    samples.append_line(line, i, labels[i]);
    file.write(line.data(), line.size());
  }
  file.commit();
}

}  // namespace milieu

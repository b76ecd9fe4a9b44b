// SPDX-License-Identifier: Apache-2.0
// labels.csv: one sample per line. docs/format.md describes it.
#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/csv_text.h"
#include "milieu/store/labels_csv.h"
#include "milieu/store/run_folder.h"

namespace milieu {

namespace {

void check_length(size_t given, size_t expected, const char* name) {
  require(given == 0 || given == expected, [&] {
    return fmt::format("{} has {}, labels has {}: they must match", name,
                       counted(given, "entry", "entries"), expected);
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
      out.append(csv_cell(names[i]));
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

std::string classes_csv_text(const std::vector<std::string>& names) {
  CsvWriter table;
  table.row("class", "name");
  for (size_t c = 0; c < names.size(); ++c) table.row(c, names[c]);
  return table.text();
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

// SPDX-License-Identifier: Apache-2.0
#include "milieu/naming/part_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/csv_text.h"

namespace milieu {

namespace {

constexpr const char* kBackground = "background";

bool is_background(std::string line) {
  std::transform(line.begin(), line.end(), line.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return line == kBackground;
}

std::string_view head_of(std::string_view line) {
  const std::string_view head = line.substr(0, line.find(','));
  return head.empty() ? line : head;
}

std::string joined_names(const std::vector<NamedLabel>& labels) {
  std::vector<std::string> names;
  for (const NamedLabel& label : labels) names.push_back(label.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string list_text(const std::vector<NamedLabel>& labels) {
  std::vector<std::string> texts;
  for (const NamedLabel& label : labels)
    texts.push_back(fmt::format("{} ({:.0f} % sure)", label.name, 100 * label.sure));
  return fmt::format("{}", fmt::join(texts, ", "));
}

void add_rows(CsvWriter& table, size_t part, const char* of,
              const std::vector<NamedLabel>& labels) {
  for (size_t rank = 0; rank < labels.size(); ++rank) {
    const NamedLabel& l = labels[rank];
    table.row(part, of, rank + 1, l.label, l.name, l.sure, l.mean, l.lead, l.p);
  }
}

}  // namespace

std::string PartNames::title() const { return joined_names(labels); }

std::vector<std::string> match_label_names(std::vector<std::string> lines, int64_t num_scores,
                                           const std::string& path, const std::string& source) {
  const auto count = std::ssize(lines);
  if (count == num_scores) return lines;
  if (count == num_scores + 1 && is_background(lines[0])) {
    lines.erase(lines.begin());
    return lines;
  }
  std::string way_out = "one name per line, in the order of the labels";
  if (count + 1 == num_scores)
    way_out +=
        fmt::format("; if the first label is the background, begin with the line {}", kBackground);
  if (count == num_scores + 1)
    way_out += fmt::format("; a first line is left out if it is {}", kBackground);
  throw DataError(fmt::format("{} has {}, {} has {}: they must match, {}", path,
                              counted(count, "name"), source, counted(num_scores, "label"),
                              way_out));
}

std::vector<std::string> shown_names(std::span<const std::string> lines) {
  std::map<std::string_view, int> uses;
  for (const std::string& line : lines) ++uses[head_of(line)];
  std::vector<std::string> names;
  for (const std::string& line : lines)
    names.emplace_back(uses[head_of(line)] > 1 ? std::string_view(line) : head_of(line));
  return names;
}

std::vector<NamedLabel> with_names(std::span<const PartLabel> labels,
                                   std::span<const std::string> names) {
  std::vector<NamedLabel> named;
  for (const PartLabel& label : labels)
    named.push_back({label, names[static_cast<size_t>(label.label)]});
  return named;
}

std::string part_names_text(std::span<const PartNames> parts) {
  std::string text;
  for (size_t k = 0; k < parts.size(); ++k) {
    text += fmt::format(
        "part {}: {}", k,
        parts[k].labels.empty() ? "no label sets it apart" : list_text(parts[k].labels));
    if (!parts[k].exemplar.empty())
      text += fmt::format("; its exemplar: {}", joined_names(parts[k].exemplar));
    text += "\n";
  }
  return text;
}

std::string part_names_csv(std::span<const PartNames> parts) {
  CsvWriter table;
  table.row("part", "of", "rank", "label", "name", "sure", "mean", "lead", "p");
  for (size_t k = 0; k < parts.size(); ++k) {
    add_rows(table, k, "part", parts[k].labels);
    add_rows(table, k, "exemplar", parts[k].exemplar);
  }
  return table.text();
}

}  // namespace milieu

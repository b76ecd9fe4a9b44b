// SPDX-License-Identifier: Apache-2.0
// Run folders of version 0.1.0 have no columns.safetensors: what the explorer shows is read from
// their tables. The context's decision values were never written, so they are missing.
#include <cstdlib>
#include <unordered_map>

#include "milieu/report/run_tables_internal.h"
#include "milieu/report/run_view.h"

namespace milieu {

namespace {

using internal::read_table;
using internal::Table;
using internal::whole_number;

float real_number(const std::string& text) { return std::strtof(text.c_str(), nullptr); }

// sample, label, margin, part_0, ...
void add_decisions(const Table& lines, std::vector<Column>& columns) {
  if (lines.empty() || lines[0].size() < 4) return;
  const size_t width = lines[0].size() - 3;
  std::vector<float> margins, decisions;
  for (const auto& line : lines) {
    if (line.size() != width + 3) return;
    margins.push_back(real_number(line[2]));
    for (size_t k = 0; k < width; ++k) decisions.push_back(real_number(line[3 + k]));
  }
  columns.push_back(real_column("margins", std::move(margins)));
  columns.push_back(real_column("decisions", std::move(decisions), static_cast<int64_t>(width)));
}

// Keypoints are named PATH:X,Y and carry their phrase; images are counted as in row_labels.csv.
void add_keypoints(const Table& lines, const Table& images, std::vector<Column>& columns) {
  std::unordered_map<std::string, int32_t> image_of;
  for (size_t i = 0; i < images.size(); ++i)
    image_of.emplace(images[i][0], static_cast<int32_t>(i));
  std::vector<float> positions;
  std::vector<int32_t> phrases, places;
  for (const auto& line : lines) {
    const std::string& name = line[0];
    const size_t colon = name.rfind(':'), comma = name.rfind(',');
    if (colon == std::string::npos || comma == std::string::npos || comma < colon) return;
    const auto found = image_of.find(name.substr(0, colon));
    if (found == image_of.end()) return;
    places.push_back(found->second);
    positions.push_back(real_number(name.substr(colon + 1, comma - colon - 1)));
    positions.push_back(real_number(name.substr(comma + 1)));
    phrases.push_back(whole_number(line.back()));
  }
  columns.push_back(whole_column("phrases", std::move(phrases)));
  columns.push_back(real_column("positions", std::move(positions), 2));
  columns.push_back(whole_column("images", std::move(places)));
}

}  // namespace

std::vector<Column> columns_of_old_run(const std::string& folder) {
  std::vector<Column> columns;
  add_decisions(read_table(folder + "/decisions.csv"), columns);
  std::vector<int32_t> words;
  for (const auto& line : read_table(folder + "/words.csv"))
    if (line.size() >= 3 && line[1] == "0") words.push_back(whole_number(line[2]));
  if (words.empty()) return columns;
  const Table labels = read_table(folder + "/labels.csv");
  if (labels.size() == words.size())
    add_keypoints(labels, read_table(folder + "/row_labels.csv"), columns);
  columns.push_back(whole_column("words", std::move(words)));
  return columns;
}

}  // namespace milieu

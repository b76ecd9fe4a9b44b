// SPDX-License-Identifier: Apache-2.0
// Words and phrases of a cac run, per row of the collection.
#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "milieu/base/error.h"
#include "milieu/data/text_file.h"
#include "milieu/report/run_tables_internal.h"
#include "milieu/report/run_view.h"

namespace milieu {

namespace {

using internal::read_table;
using internal::Table;
using internal::whole_number;

// How often each phrase occurs in a row.
class PhraseCounts {
 public:
  void add(int32_t row, int32_t phrase) {
    if (phrase >= 0) ++counts_[row][phrase];
  }
  // Labels and margins of the rows in `columns`.
  void vote(ViewColumns& columns) const {
    for (const int32_t row : columns.rows) {
      int32_t best = -1;
      int64_t most = 0, next = 0, all = 0;
      if (const auto found = counts_.find(row); found != counts_.end())
        for (const auto& [phrase, count] : found->second) {
          all += count;
          if (count > most) {
            next = most;
            most = count;
            best = phrase;
          } else {
            next = std::max(next, count);
          }
        }
      columns.labels.push_back(best);
      columns.margins.push_back(all > 0 ? static_cast<float>(most - next) / static_cast<float>(all)
                                        : 0.F);
    }
  }

 private:
  std::map<int32_t, std::map<int32_t, int64_t>> counts_;  // ascending: the lowest phrase first
};

// Keypoints: the images they are in are named by row_labels.csv, in the order of their numbers.
void read_images(const RunFolderView& run, const std::vector<Column>& columns,
                 const Collection& collection, ViewColumns& view, WordView& out) {
  const auto& words = *find_wholes(columns, "words");
  const auto& phrases = *find_wholes(columns, "phrases");
  const auto& images = *find_wholes(columns, "images");
  const auto& positions = *find_reals(columns, "positions");
  std::unordered_map<std::string, int32_t> row_of;
  for (const int64_t row : run.rows)
    row_of.emplace(collection.row_name(row), static_cast<int32_t>(row));
  std::vector<int32_t> row_of_image;
  for (const auto& line : read_table(run.folder + "/row_labels.csv")) {
    const auto found = row_of.find(line[0]);
    if (found == row_of.end()) throw DataError(kChangedCollection);
    row_of_image.push_back(found->second);
  }
  PhraseCounts counts;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto image = static_cast<size_t>(images[i]);
    if (image >= row_of_image.size() || i >= phrases.size() || 2 * i + 1 >= positions.size())
      throw DataError(kChangedCollection);
    const int32_t row = row_of_image[image];
    out.images[row].push_back({positions[2 * i], positions[2 * i + 1], words[i], phrases[i]});
    counts.add(row, phrases[i]);
    view.num_parts = std::max(view.num_parts, phrases[i] + 1);
  }
  view.rows.assign(run.rows.begin(), run.rows.end());
  counts.vote(view);
}

void read_groups(const Table& lines, const std::vector<int32_t>& words,
                 const Collection& collection, const std::vector<int64_t>& set,
                 ViewColumns& columns, WordView& out) {
  const Groups groups = select_members(collection.groups(), set);
  if (static_cast<int64_t>(lines.size()) != groups.num_groups())
    throw DataError(kChangedCollection);
  PhraseCounts counts;
  for (int64_t g = 0; g < groups.num_groups(); ++g) {
    NamedGroup group;
    group.name = lines[static_cast<size_t>(g)][0];
    group.phrase = whole_number(lines[static_cast<size_t>(g)].back());
    columns.num_parts = std::max(columns.num_parts, group.phrase + 1);
    for (const int64_t member : groups.members_of(g)) {
      const auto row = static_cast<int32_t>(set[static_cast<size_t>(member)]);
      group.rows.push_back(row);
      counts.add(row, group.phrase);
    }
    out.groups.push_back(std::move(group));
  }
  columns.rows.assign(set.begin(), set.end());
  counts.vote(columns);
  if (words.size() == set.size()) columns.words = words;
}

}  // namespace

WordView read_words(const RunFolderView& run, const std::vector<Column>& columns,
                    const Collection& collection, ViewColumns& view) {
  WordView out;
  std::istringstream text(try_read_text_file(run.folder + "/phrases.txt").value_or(""));
  for (std::string line; std::getline(text, line);) out.phrases.push_back(line);
  const std::vector<int32_t>* words = find_wholes(columns, "words");
  if (!words || words->empty()) return out;
  const bool has_keypoints = find_wholes(columns, "images") && find_wholes(columns, "phrases") &&
                             find_reals(columns, "positions");
  if (collection.groups().num_groups() > 0)
    read_groups(read_table(run.folder + "/labels.csv"), *words, collection, run.rows, view, out);
  else if (collection.has_image_files() && has_keypoints)
    read_images(run, columns, collection, view, out);
  else if (words->size() == run.rows.size())
    view.words = *words;
  return out;
}

}  // namespace milieu

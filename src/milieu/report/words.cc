// SPDX-License-Identifier: Apache-2.0
#include "serve/words.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <unordered_map>

#include "milieu/base/error.h"
#include "milieu/feature/decode/decode.h"
#include "serve/message.h"
#include "serve/run_files.h"
#include "serve/run_result.h"

namespace milieu::serve {

namespace {

using Table = std::vector<std::vector<std::string>>;

int32_t whole_number(const std::string& text) {
  int32_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "lake/a.jpg:12.5,8.0" taken apart; false for any other name.
bool split_place(const std::string& name, std::string& path, PictureWord& at) {
  const size_t colon = name.rfind(':'), comma = name.rfind(',');
  if (colon == std::string::npos || comma == std::string::npos || comma < colon) return false;
  const char* text = name.data();
  const auto x = std::from_chars(text + colon + 1, text + comma, at.x);
  const auto y = std::from_chars(text + comma + 1, text + name.size(), at.y);
  path = name.substr(0, colon);
  return x.ec == std::errc() && x.ptr == text + comma && y.ec == std::errc() &&
         y.ptr == text + name.size();
}

// How often each phrase occurs in a row.
class PhraseCounts {
 public:
  void add(int32_t row, int32_t phrase) {
    if (phrase >= 0) ++counts_[row][phrase];
  }
  // Labels and margins of the rows in `columns`.
  void vote(RunColumns& columns) const {
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

// Words of the first view, in the order of the samples.
std::vector<int32_t> first_words(const RunRecord& record) {
  std::vector<int32_t> words;
  for (const auto& line : read_csv_rows(record.run_folder() + "/words.csv"))
    if (line.size() >= 3 && line[1] == "0") words.push_back(whole_number(line[2]));
  return words;
}

void read_pictures(const Table& lines, const std::vector<int32_t>& words,
                   const Collection& collection, const std::vector<int64_t>& set,
                   RunColumns& columns, CacWords& out) {
  std::unordered_map<std::string, int32_t> row_of;
  for (const int64_t row : set) row_of.emplace(collection.row_name(row), static_cast<int32_t>(row));
  PhraseCounts counts;
  for (size_t i = 0; i < lines.size(); ++i) {
    PictureWord at;
    std::string path;
    const bool is_place = lines[i].size() == 2 && split_place(lines[i][0], path, at);
    const auto found = is_place ? row_of.find(path) : row_of.end();
    if (found == row_of.end()) throw DataError(kChangedCollection);
    at.phrase = whole_number(lines[i][1]);
    if (i < words.size()) at.word = words[i];
    out.pictures[found->second].push_back(at);
    counts.add(found->second, at.phrase);
    columns.num_parts = std::max(columns.num_parts, at.phrase + 1);
  }
  columns.rows.assign(set.begin(), set.end());
  counts.vote(columns);
}

void read_groups(const Table& lines, const std::vector<int32_t>& words,
                 const Collection& collection, const std::vector<int64_t>& set, RunColumns& columns,
                 CacWords& out) {
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

CacWords read_cac_words(const RunRecord& record, const Collection& collection,
                        const std::vector<int64_t>& set, RunColumns& columns) {
  CacWords out;
  std::istringstream text(read_text_file(record.run_folder() + "/phrases.txt").value_or(""));
  for (std::string line; std::getline(text, line);) out.phrases.push_back(line);
  const std::vector<int32_t> words = first_words(record);
  const Table lines = read_csv_rows(record.run_folder() + "/labels.csv");
  if (lines.empty()) return out;
  PictureWord at;
  std::string path;
  const bool is_row = lines[0][0] == collection.row_name(set[0]);
  if (collection.groups().num_groups() > 0)
    read_groups(lines, words, collection, set, columns, out);
  else if (collection.is_of_pictures() && !is_row && split_place(lines[0][0], path, at))
    read_pictures(lines, words, collection, set, columns, out);
  else if (words.size() == set.size())
    columns.words = words;
  return out;
}

Json picture_words_json(const CacWords& words, const Collection& collection, int64_t row) {
  const auto found = words.pictures.find(static_cast<int32_t>(row));
  if (found == words.pictures.end()) return nullptr;
  const std::string name = collection.row_name(row);
  const Image picture = limit_side(decode_image(read_below(collection.root(), name), name),
                                   collection.keypoint_side());
  Json json{{"width", picture.width}, {"height", picture.height}};
  for (const char* key : {"places", "words", "phrases"}) json[key] = Json::array();
  for (const PictureWord& at : found->second) {
    json["places"].push_back(at.x);
    json["places"].push_back(at.y);
    json["words"].push_back(at.word);
    json["phrases"].push_back(at.phrase);
  }
  return json;
}

}  // namespace milieu::serve

// SPDX-License-Identifier: Apache-2.0
// What a person changed in a result by hand: samples moved to other parts or set aside, parts
// added, names, tags. Kept as edits.json in the run folder, beside what the method wrote: the
// method's own labels stay as they are. docs/format.md describes the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/report/run_view.h"

namespace MILIEU_API milieu {

inline constexpr const char* kEditsName = "edits.json";

struct Edits {
  static constexpr int kSetAside = -1;         // the part of a sample that belongs to none
  int num_parts = 0;                           // those of the method and those that were added
  std::vector<std::pair<int64_t, int>> moves;  // place in labels.csv, part or kSetAside
  std::vector<std::pair<int64_t, std::string>> tags;  // place, tag; a sample may have several
  std::vector<std::string> part_names;                // by hand; "" where a part has none
  std::string history;  // JSON of the page: the steps that led here; "" for none

  bool empty() const { return moves.empty() && tags.empty() && part_names.empty(); }
};

// The text of edits.json, and back. Throws DataError for text that is not such a file or names a
// place or part that `num_samples` samples cannot have.
std::string to_json_text(const Edits& edits);
Edits edits_from_json(std::string_view text, int64_t num_samples);

// Those in a run folder of `num_samples` samples; nothing when it has none.
std::optional<Edits> read_edits(const std::string& run_folder, int64_t num_samples);
// Atomically; removes the file when there is nothing to keep.
void write_edits(const std::string& run_folder, const Edits& edits);

// The tags of each of `num_samples` samples, in the order they were given.
std::vector<std::vector<std::string>> tags_by_sample(const Edits& edits, int64_t num_samples);

// The view as the person left it: labels, margins and parts after the moves.
RunView edited_view(const RunView& view, const Edits& edits, const Collection& collection);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Groups: which samples occur together (the words of an image, the views of an object). Two kinds
// of files:
//
// Text, one group per line: row numbers of samples, counted from 0, separated by blanks or commas,
//   optionally after a name ("beach: 4 8 15 8"). A number that occurs twice has weight 2.
//   A blank line is an empty group; blank lines at the end are not groups. Lines that start with #
//   are comments.
// MatrixMarket (.mtx, coordinate, general; real, integer or pattern): rows are groups, columns are
//   samples, both counted from 1 as the format says; entries are weights, entries of one place are
//   added up, zeros are dropped.
//
// Empty groups are allowed. A sample may be in any number of groups, also in none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// Compressed rows: group g holds members[offsets[g]] ... members[offsets[g + 1] - 1], ascending,
// each once; weights has one positive number per member.
struct Groups {
  int64_t num_samples = 0;          // members are in [0, num_samples)
  std::vector<int64_t> offsets{0};  // number of groups + 1
  std::vector<int64_t> members;
  std::vector<float> weights;
  std::vector<std::string> names;  // one per group; empty when no group has a name

  int64_t num_groups() const { return static_cast<int64_t>(offsets.size()) - 1; }
  std::span<const int64_t> members_of(int64_t group) const;
  std::span<const float> weights_of(int64_t group) const;
};

// `num_samples` is the number of samples that members may name; -1: not known, then it becomes the
// highest member + 1 (text) or the number of columns (MatrixMarket). Throws IoError or DataError
// with line and value.
Groups load_groups(const std::string& path, int64_t num_samples = -1);

// The same of text in memory; the first line decides which of the two kinds it is.
Groups parse_groups(std::string_view text, const std::string& source, int64_t num_samples = -1);

// The groups of a selection: members outside `rows` (ascending) are dropped, the others become
// their place in `rows`. Every group stays, empty or not.
Groups select_members(const Groups& groups, const std::vector<int64_t>& rows);

}  // namespace milieu

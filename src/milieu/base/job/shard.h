// SPDX-License-Identifier: Apache-2.0
// A part of a job whose items need nothing from each other: images to describe, contexts to try,
// restarts. Several processes, on one machine or many, take a shard each; a merge then gives what
// one process would have given. Which items belong to a shard depends on their number alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

struct Shard {
  int index = 1;  // from 1 to count
  int count = 1;

  // Its items are [begin, end) of n: all shards together have each item once, in order.
  int64_t begin(int64_t n) const { return n * (index - 1) / count; }
  int64_t end(int64_t n) const { return n * index / count; }
  bool has(int64_t item, int64_t n) const { return begin(n) <= item && item < end(n); }
  std::string text() const;  // "2/8"
  std::string name() const;  // "2-of-8": part of a file name

  bool operator==(const Shard&) const = default;
};

// The most shards that a job may have.
inline constexpr int kMaxJobShards = 100'000;

// Reads "2/8", or "slurm": the place of this task in its Slurm job array, from the environment
// (SLURM_ARRAY_TASK_ID, _MIN, _MAX, _COUNT). Throws InvalidArgument for anything else, and for an
// array that is not a plain range: it does not say how many shards there are.
Shard parse_shard(std::string_view text);

// Throws InvalidArgument that names the shards that are not complete, "2/8" each, and the folder
// that they are in; nothing when there are none.
void check_complete(const std::vector<std::string>& incomplete, const std::string& folder);

}  // namespace milieu

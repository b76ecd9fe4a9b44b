// SPDX-License-Identifier: Apache-2.0
// One split out of many: the parts that most contexts of a ranking put each sample into.
#pragma once

#include <span>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

struct DcpVote {
  std::vector<int> labels;          // n, in [0, num_parts): the part with the most votes
  std::vector<double> agreement;    // n, share of the splits that put the sample into that part
  std::vector<float> margins;       // n, that share minus the share of the next part
  std::vector<double> split_share;  // per split, share of the samples for which it voted as elected
};

// Parts of different contexts are numbered at random, so they are matched first: to those of
// splits[0], then to the elected parts until these stay as they are. Ties go to the part that
// splits[0] has, else to the lowest number. Every split has one label in [0, num_parts) per sample;
// there is at least one split.
DcpVote vote_on_parts(std::span<const std::vector<int>> splits, int num_parts);

}  // namespace milieu

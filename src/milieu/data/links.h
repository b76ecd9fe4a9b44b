// SPDX-License-Identifier: Apache-2.0
// Links between samples (pages that point to each other, authors of one paper) as groups: the
// neighbourhood of a sample is the sample itself and all samples it is linked with, in either
// direction. Two kinds of files:
//
// Text, one link per line: two row numbers of samples, counted from 0, separated by blanks or a
//   comma. Lines that start with # are comments.
// MatrixMarket (.mtx, coordinate, general or symmetric; real, integer or pattern): a square matrix;
//   entries that are not 0 are links. Weights must be at least 0 and are not used.
//
// Links that occur twice, or in both directions, count once; a sample needs no link to itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/groups.h"

namespace MILIEU_API milieu {

// One group per sample. Throws IoError or DataError with line and value.
Groups load_links(const std::string& path, int64_t num_samples);
Groups parse_links(std::string_view text, const std::string& source, int64_t num_samples);

// The neighbourhoods of a selection: those of `rows` (ascending), with the members among them.
Groups select_neighborhoods(const Groups& neighborhoods, const std::vector<int64_t>& rows);

}  // namespace milieu

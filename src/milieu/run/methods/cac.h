// SPDX-License-Identifier: Apache-2.0
// The parts of a cac run: its tables, the labels of rows, overlays on images.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/cac/cac.h"
#include "milieu/feature/image.h"
#include "milieu/run/outcome.h"

namespace MILIEU_API milieu {

// The curves of `auto` choices: value against agreement of the restarts. Empty without a choice.
std::string stability_csv(const RunSummary& summary);
std::string stability_text(const RunSummary& summary);  // with bars, for people

// The phrase that most of an image's keypoints, or most of a sample's groups, have; -1: there are
// none. For row_labels.csv, where labels are of something else than rows.
std::vector<int> phrases_of_images(const CacResult& result, std::span<const int> images,
                                   size_t num_images);
std::vector<int> phrases_of_members(const CacResult& result, const ContextGroups& groups);

// The tables of a run folder: words.csv, phrases.txt, steps.csv, with a choice stability.csv.
// `errors` have one entry per step, or none.
struct CacErrors {
  std::vector<double> phrases, words;
};
std::vector<ResultFile> cac_tables(const CacResult& result, const Dataset& data,
                                   const CacErrors& errors);

// From top to bottom [Yuan08, Fig. 2]: words at the end, phrases at the start, after the first
// round and at the end. `rows` are the samples in this image, `positions` theirs in the same order.
std::string draw_stages(const Image& image, FloatView positions, const std::vector<int>& rows,
                        const CacResult& result);

}  // namespace milieu

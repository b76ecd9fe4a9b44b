// SPDX-License-Identifier: Apache-2.0
// What INPUT became: typed samples with their classes and names, and where they came from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/data/dataset.h"
#include "milieu/input/image_rows.h"
#include "milieu/input/input_spec.h"
#include "milieu/input/patch_images.h"

namespace MILIEU_API milieu {

enum class SampleKind {
  Points,     // one row per sample
  Views,      // several rows per sample, one per view
  Keypoints,  // points with positions in images
  Patches,    // one set of patches per image
};

// Keypoints: where each sample lies.
struct SamplePlaces {
  Points positions;                // one row per sample
  std::vector<int> images;         // the image of each sample, an index into paths
  std::vector<std::string> paths;  // of the images, below root
  std::string root;                // the image folder
  int max_side = 0;                // how images were scaled down; 0: not at all
};

struct Input {
  SampleKind kind = SampleKind::Points;
  Dataset data;                     // the kept samples; Patches: one row per image
  std::optional<RowSource> source;  // all rows of INPUT: other sets are taken from it
  std::vector<Points> views;        // Views: each by itself; `data` has them side by side
  SamplePlaces places;              // Keypoints
  PatchImages patches;              // Patches
  std::vector<Points> matrices;     // costs of every pair, one matrix per candidate distance
  ImageOrigin images;               // where the images are and how they were described
  std::vector<int64_t> named_rows;  // the rows that were chosen by number; empty: none were
  std::vector<std::string> warnings;

  // Other rows of INPUT: those that `rows` names, or those of some classes, which never include
  // rows that were chosen by number. They throw InvalidArgument where INPUT is not made of rows.
  Dataset take_rows(const std::vector<int64_t>& rows) const;
  Dataset take_classes(const std::string& select) const;
};

// Of `spec`: labels, label column, threads, and the rows to keep, read from their file.
LoadOptions load_options_of(const InputSpec& spec, int num_threads);
ImageOptions image_options_of(const InputSpec& spec);

// Rows as most methods take them. `model`: a run folder whose features, words and columns the rows
// must have; "": none. The feature that was chosen is put into `spec`.
Input read_rows(InputSpec& spec, int num_threads, const std::string& model, Monitor& monitor);

}  // namespace milieu

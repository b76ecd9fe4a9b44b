// SPDX-License-Identifier: Apache-2.0
// Pictures of a dlgmm run for its folder.
#pragma once

#include <vector>

#include "milieu/base/export.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/input/patch_images.h"
#include "milieu/run/outcome.h"

namespace MILIEU_API milieu {

// words.png: each word as a mosaic of the patches nearest to it, frequent words first;
// word_maps.png: the surest images of clusters beside their words in colours; clusters.png: one
// row of the most certain images per cluster. Nothing for patches without images.
std::vector<ResultFile> draw_dlgmm(const PatchImages& images, const DlgmmResult& result,
                                   int num_threads);

// The first images beside their words in colours, as PNG. `images` must have pictures and a grid.
std::vector<int64_t> drawn_word_maps(const PatchImages& images);
std::string draw_word_maps(const PatchImages& images, const std::vector<int>& words);

}  // namespace milieu

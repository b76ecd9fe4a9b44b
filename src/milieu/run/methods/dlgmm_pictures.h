// SPDX-License-Identifier: Apache-2.0
// Pictures of a DLGMM run for its folder.
#pragma once

#include <vector>

#include "method.h"
#include "milieu/dlgmm/dlgmm.h"
#include "patch_images.h"

namespace milieu::cli {

// words.png: each word as a mosaic of the patches nearest to it, frequent words first;
// word_maps.png: the surest images of clusters beside their words in colours; clusters.png: a line
// of the surest images for each cluster. Nothing for patches without pictures.
std::vector<ResultFile> draw_dlgmm(const PatchImages& images, const DlgmmResult& result,
                                   int num_threads);

// The first images beside their words in colours, as PNG. `images` must have pictures and a grid.
std::vector<int64_t> drawn_word_maps(const PatchImages& images);
std::string draw_word_maps(const PatchImages& images, const std::vector<int>& words);

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// Labels drawn over an image: a disc at the place of each sample, in the colour of its cluster.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"
#include "milieu/render/png.h"

namespace MILIEU_API milieu {

// The image (RGB) in pale grey with a disc at (x, y), the first two columns of each row of
// `positions`; samples of label -1 are left out. Discs beyond the border are cut off.
RasterImage draw_overlay(const RasterImage& image, FloatView positions, std::span<const int> labels,
                         double radius = 4);

// Pictures of one width on top of each other with a white line between them.
RasterImage stack_pictures(const std::vector<RasterImage>& pictures);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Scaling of images as Pillow does it, and torchvision on top of it: networks were trained on
// images scaled that way. The filter widens with the scale where an image shrinks (antialiasing);
// columns first, then rows, each rounded to a byte.
#pragma once

#include "milieu/feature/image.h"

namespace milieu::internal {

enum class Interpolation { Auto, Bilinear, Bicubic, Lanczos };

// A part of the scaled image.
struct CropBox {
  int left = 0, top = 0, width = 0, height = 0;
};

// `image` scaled to width x height, of which `box` is kept; only that part is computed. Auto counts
// as bilinear.
Image resample(const Image& image, int width, int height, const CropBox& box, Interpolation filter);

}  // namespace milieu::internal

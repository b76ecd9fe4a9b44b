// SPDX-License-Identifier: Apache-2.0
// Colour histograms of small regions: patches of a grid, or discs round keypoints. Every channel is
// cut into `num_bins` equal parts; a region's descriptor is the share of its pixels in each of the
// num_bins^3 boxes, the first channel slowest. Sum 1.
#pragma once

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/feature/descriptor/local.h"
#include "milieu/feature/image.h"

namespace MILIEU_API milieu {

// Hsv: hue (a sixth of a turn each from red over yellow, green, cyan, blue, magenta; grey counts as
// red), saturation (max - min) / max, value max; each scaled to 0..1.
enum class ColorSpace { Rgb, Hsv };

struct LocalColorOptions {
  int patch_size = 16;  // pixels; patches of the grid
  int step = 8;         // pixels between patches
  int num_bins = 4;     // for each channel: 4 give 64 numbers
  ColorSpace color_space = ColorSpace::Rgb;
  double extent = 6;  // radius of the disc round a keypoint, in scales
};

template <class Visitor>
void visit_fields(LocalColorOptions& o, Visitor&& v) {
  v("patch_size", o.patch_size, between(1, 4096), "side of a patch in pixels");
  v("step", o.step, between(1, 65536), "pixels between neighbouring patches");
  v("num_bins", o.num_bins, between(1, 16), "bins per channel");
  v("color_space", o.color_space,
    one_of<ColorSpace>({{"rgb", ColorSpace::Rgb}, {"hsv", ColorSpace::Hsv}}),
    "channels that are binned");
  v("extent", o.extent, between(0.1, 100), "radius around a keypoint, in units of its scale");
}

// On the grid of dense_sift with the same patch_size and step; frames likewise.
LocalDescriptors local_color(const Image& image, const LocalColorOptions& options = {});

// At given frames (m x 4, from sparse_sift or hessian_affine; patch_size and step do not matter):
// the pixels whose centre is at most extent * scale from the keypoint; if there is none, the
// nearest pixel. Frames outside the image are refused.
LocalDescriptors local_color_at(const Image& image, FloatView frames,
                                const LocalColorOptions& options = {});

}  // namespace milieu

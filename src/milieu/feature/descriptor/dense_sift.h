// SPDX-License-Identifier: Apache-2.0
// Dense SIFT: gradient histograms of square patches on a regular grid [Lowe04, section 6]. The
// exact definition, in the order of computation (docs/feature_descriptors.md has the reasons):
//
//  1. Grey values are smoothed by a Gaussian of `smoothing` pixels, cut off at ceil(3 sigma),
//     normalised to sum 1. Outside the image the nearest pixel is repeated, here and in 2.
//  2. Central differences dx = (I(x+1) - I(x-1)) / 2 and dy = (I(y-1) - I(y+1)) / 2 (upwards), on
//     the scale where white is 1.
//  3. The length of (dx, dy) votes for the two nearest of 8 directions (multiples of 45 degrees,
//     counter-clockwise from +x), linearly shared by angle.
//  4. A patch has side P, a multiple of 4, and 4 x 4 bins of side b = P/4. The patch with upper
//     left pixel (u, v) has the centre (u + P/2, v + P/2); the bins' centres are at -1.5 b, -0.5 b,
//     0.5 b and 1.5 b from it along each axis. A pixel at distance (r, s) from a bin's centre
//     counts with (1 - |r|/b)(1 - |s|/b) where both are positive, so bins reach half a bin over
//     the patch's edge. With `window` gaussian, a pixel counts also with exp(-q^2 / (2 (2b)^2)) at
//     distance q from the patch's centre. Pixels outside the image count nothing.
//  5. The 128 sums, (row, column, direction) with the direction fastest, times (4/b)^2, are divided
//     by the larger of their norm and `contrast_floor`, cut to at most `clip`, and divided by their
//     norm again, unless the first norm was below the floor: a flat patch gives a short vector, an
//     empty one zeros.
//  6. With `root`, each number becomes the square root of its share of their sum, times the norm
//     after 5 (1 except for flat patches) [Arandjelovic12].
//
// The grid has every place u = u0 + i step with 0 <= u <= width - P, likewise v; u0 halves what is
// left over, rounded down. An image that is smaller than the patch has no descriptors. Scale s
// (of `num_scales`) has the patch side P_s = 4 round(patch_size scale_step^s / 4) and the smoothing
// smoothing * P_s / patch_size; each scale has its own grid, one after the other.
#pragma once

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/feature/descriptor/local.h"
#include "milieu/feature/image.h"

namespace MILIEU_API milieu {

enum class SiftWindow { Flat, Gaussian };

struct DenseSiftOptions {
  int patch_size = 16;      // P, pixels; a multiple of 4; larger: more context, fewer details
  int step = 8;             // pixels between neighbouring patches; smaller: more of them
  int num_scales = 1;       // patch sizes
  double scale_step = 1.5;  // ratio of one patch size to the one before
  double smoothing = 1.0;   // sigma in pixels for patch_size; 0: none
  SiftWindow window = SiftWindow::Flat;
  double contrast_floor = 0.1;  // flat patches lie below; 0: every patch gets norm 1
  double clip = 0.2;            // no direction counts more; 1: no cut
  bool root = false;            // RootSIFT: then Euclidean distance is Hellinger's
};

template <class Visitor>
void visit_fields(DenseSiftOptions& o, Visitor&& v) {
  v("patch_size", o.patch_size, between(4, 4096), "side of a patch in pixels, a multiple of 4");
  v("step", o.step, between(1, 65536), "pixels between neighbouring patches");
  v("num_scales", o.num_scales, between(1, 16), "number of patch sizes");
  v("scale_step", o.scale_step, between(1, 16), "ratio of one patch size to the one before");
  v("smoothing", o.smoothing, between(0, 256),
    "standard deviation of the Gaussian that smooths the image first");
  v("window", o.window,
    one_of<SiftWindow>({{"flat", SiftWindow::Flat}, {"gaussian", SiftWindow::Gaussian}}),
    "how pixels are weighted by their distance from the centre");
  v("contrast_floor", o.contrast_floor, at_least(0), "below this norm a patch counts as flat");
  v("clip", o.clip, between(0.01, 1), "largest value of one direction before the second scaling");
  v("root", o.root, anything(), "RootSIFT: square roots of the descriptor's L1-normalised values");
}

// The descriptors of an image, m x 128; frames hold the patch's centre and side, angle 0.
LocalDescriptors dense_sift(const Image& image, const DenseSiftOptions& options = {});
// The same from grey values in [0, 255], height x width.
LocalDescriptors dense_sift(FloatView gray, const DenseSiftOptions& options = {});

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Histograms of oriented gradients on a dense grid of cells, in the form with 31 numbers per cell
// [Felzenszwalb10] as VLFeat computes it: 18 signed directions, 9 unsigned ones, 4 sums,
// each scaled by the gradient energy around and cut at 0.2. A descriptor is 2 x 2 neighbouring
// cells. Only whole cells count; what is left over at the right and below is not seen.
#pragma once

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/feature/descriptor/local.h"
#include "milieu/feature/image.h"

namespace MILIEU_API milieu {

struct HogOptions {
  int cell_size = 8;  // pixels; larger: coarser shapes, fewer descriptors
};

template <class Visitor>
void visit_fields(HogOptions& o, Visitor&& v) {
  v("cell_size", o.cell_size, between(2, 1024), "side of a cell in pixels");
}

// m x 124, a grid with one descriptor for each inner corner of cells; frames hold that corner and
// the side of 2 cells, angle 0. None where there are not 2 x 2 cells.
LocalDescriptors hog(const Image& image, const HogOptions& options = {});

}  // namespace milieu

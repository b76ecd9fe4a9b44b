// SPDX-License-Identifier: Apache-2.0
// Responses of filter banks at every step-th pixel: what texton histograms are made of. `textons`
// is the bank of Leung and Malik [Leung01], `mr8` the rotation-invariant one of Varma and Zisserman
// [Varma05].
//
// Common to both: grey values are shifted and scaled to mean 0 and standard deviation 1 (a constant
// image is 0 everywhere). Filters are sampled at whole pixels of a square that reaches 3 standard
// deviations from the centre (the largest of the filter's group), at most 24 pixels; all but the
// plain Gaussians are shifted to sum 0; then all are divided by the sum of their absolute values.
// Outside the image its mirror image is seen. The responses r of a pixel are scaled to r log(1 +
// |r|/0.03) / |r| [Varma05, section 2.3].
//
// An oriented filter with direction a is the first (edge) or second (bar) derivative of a Gaussian
// of standard deviation s along a, times a Gaussian of standard deviation 3 s across it.
//
// textons, 48 responses: edge and bar, s = 1, sqrt(2), 2, 6 directions each; Laplacians of
// Gaussians of s and 3 s for s = 1, sqrt(2), 2, 2 sqrt(2); Gaussians of the same four s.
//
// mr8, 8 responses: edge and bar at s = 1, 2, 4, of which the largest over 6 directions is kept
// (of edges the largest absolute value, so that half a turn changes nothing); Gaussian and
// Laplacian of Gaussian of s = 10.
#pragma once

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/feature/descriptor/local.h"
#include "milieu/feature/image.h"

namespace MILIEU_API milieu {

struct FilterBankOptions {
  int step = 4;  // pixels between responses; smaller: more of them
};

template <class Visitor>
void visit_fields(FilterBankOptions& o, Visitor&& v) {
  v("step", o.step, between(1, 1024), "pixels between responses");
}

// m x 48 and m x 8 on a grid; frames hold the pixel, scale 1, angle 0.
LocalDescriptors texton_responses(const Image& image, const FilterBankOptions& options = {});
LocalDescriptors mr8_responses(const Image& image, const FilterBankOptions& options = {});

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Local binary patterns of a whole image: which neighbours on a circle are at least as bright as
// the pixel itself. Plain histogram of uniform patterns [Ojala02], and its rotation-invariant
// Fourier form, LBP-HF [Ahonen09].
//
// P neighbours at radius R, the first to the right, then counter-clockwise; brightness between
// pixels is interpolated linearly, at offsets rounded to 1/64 pixel so that equal grey values are
// equal exactly. Pixels nearer than R (rounded up) to the edge have no pattern. A pattern with at
// most two changes around the circle is uniform: it has n ones, the run of which starts at place r.
#pragma once

#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/feature/image.h"

namespace MILIEU_API milieu {

struct LbpOptions {
  int num_neighbors = 8;  // P of the first circle
  double radius = 1;      // R of the first circle, pixels
  int num_circles = 3;    // circle c = 1, 2, ... has c P neighbours at c R; one histogram each
};

template <class Visitor>
void visit_fields(LbpOptions& o, Visitor&& v) {
  v("num_neighbors", o.num_neighbors, between(4, 24), "neighbours on the first circle");
  v("radius", o.radius, between(0.5, 100), "radius of the first circle in pixels");
  v("num_circles", o.num_circles, between(1, 6),
    "circle c has c times the neighbours at c times the radius, at most 30 neighbours");
}

// For each circle P(P-1) + 3 shares of pixels, sum 1 (all 0 if no pixel has a pattern): no ones; n
// ones starting at r, n = 1..P-1 slowest; all ones; not uniform.
std::vector<float> lbp(const Image& image, const LbpOptions& options = {});

// For each circle (P-1)(P/2+1) + 3 numbers: the lengths of the Fourier coefficients u = 0..P/2 of
// the P places r, for n = 1..P-1 [Ahonen09, section 3]; then the shares of no ones, all ones, not
// uniform. Turning the image by a multiple of 1/P turn moves r and so changes nothing.
std::vector<float> rot_lbp(const Image& image, const LbpOptions& options = {});

}  // namespace milieu

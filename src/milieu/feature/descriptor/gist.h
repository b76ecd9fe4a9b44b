// SPDX-License-Identifier: Apache-2.0
// Gist: the energy of oriented band-pass filters, averaged over a coarse grid of blocks; what a
// scene looks like at a glance [Oliva01].
//
//  1. The grey image is scaled to side x side pixels.
//  2. Contrast is evened out: L = log(1 + grey), mirrored at the edges by at least an eighth of the
//  side;
//     H = L - g(L), out = H / (0.2 + sqrt(g(H^2))), where g is a Gaussian low-pass filter whose
//     transfer function exp(-f^2 ln 2 / 16) halves at 4 cycles per image.
//  3. Filter (s, d) has the transfer function exp(-3.5 (f / c_s - 1)^2) exp(-pi D^2/16 t^2) at
//     frequency f (cycles per pixel) and angle t from direction pi d / D, with c_s = 0.3 / 1.85^s;
//     D is num_directions. It passes one side of the spectrum, so responses are complex and their
//     length is the local energy.
//  4. A number of the descriptor is the mean energy of a filter over a block: scale slowest, then
//     direction, then block row, then block column.
#pragma once

#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/feature/image.h"

namespace MILIEU_API milieu {

struct GistOptions {
  int side = 128;          // pixels of the scaled image; larger: finer scales are seen
  int num_scales = 4;      // each is 1.85 times coarser than the one before
  int num_directions = 8;  // D
  int num_blocks = 4;      // blocks per side
};

template <class Visitor>
void visit_fields(GistOptions& o, Visitor&& v) {
  v("side", o.side, between(16, 1024), "side of the scaled image in pixels");
  v("num_scales", o.num_scales, between(1, 8), "scales of the filters");
  v("num_directions", o.num_directions, between(1, 36), "directions of the filters");
  v("num_blocks", o.num_blocks, between(1, 16), "blocks per side");
}

// num_scales * num_directions * num_blocks^2 numbers.
std::vector<float> gist(const Image& image, const GistOptions& options = {});

}  // namespace milieu

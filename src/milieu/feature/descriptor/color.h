// SPDX-License-Identifier: Apache-2.0
// A colour histogram of the whole image: the share of its pixels in each cell of hue, saturation
// and value (the hexcone: value is the largest of r, g, b; saturation its distance to the smallest
// over the value; hue the position on the hexagon, 0 where there is no saturation).
#pragma once

#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/feature/image.h"

namespace MILIEU_API milieu {

struct ColorOptions {
  int hue_bins = 8;  // over the circle, the first centred at red
  int saturation_bins = 4;
  int value_bins = 4;
};

template <class Visitor>
void visit_fields(ColorOptions& o, Visitor&& v) {
  v("hue_bins", o.hue_bins, between(1, 64), "bins of the hue circle");
  v("saturation_bins", o.saturation_bins, between(1, 64), "bins of the saturation");
  v("value_bins", o.value_bins, between(1, 64), "bins of the brightness");
}

// hue_bins * saturation_bins * value_bins shares, sum 1; (hue, saturation, value), value fastest.
std::vector<float> color_histogram(const Image& image, const ColorOptions& options = {});

}  // namespace milieu

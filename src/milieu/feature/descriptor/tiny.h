// SPDX-License-Identifier: Apache-2.0
// The image itself as a vector: scaled to a small square (both sides on their own, by the mean
// over each new pixel's area), row by row, values in [0, 1]. With `size` the side of digit images,
// these are their pixels.
#pragma once

#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/feature/image.h"

namespace MILIEU_API milieu {

struct TinyOptions {
  int size = 16;           // side in pixels; larger: more detail, less tolerance of shifts
  bool color = false;      // three values per pixel instead of the grey value
  bool normalize = false;  // mean 0 and norm 1: brightness and contrast have no effect
};

template <class Visitor>
void visit_fields(TinyOptions& o, Visitor&& v) {
  v("size", o.size, between(1, 1024), "side of the small image in pixels");
  v("color", o.color, anything(), "red, green and blue of each pixel instead of its grey value");
  v("normalize", o.normalize, anything(), "subtract the mean and scale to norm 1");
}

// size * size values, or three times as many. A constant image gives zeros when normalised.
std::vector<float> tiny(const Image& image, const TinyOptions& options = {});

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// The colours of clusters: one palette for light and dark pages, safe for the common kinds of
// colour blindness. How it was made, and what holds for it, is explained in color.cc and checked in
// color_test.cc. Colour is never the only cue on a page: numbers and titles carry the same
// information.
#pragma once

#include <cstdint>
#include <string>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

struct Color {
  uint8_t r = 0;
  uint8_t g = 0;
  uint8_t b = 0;

  friend bool operator==(const Color&, const Color&) = default;
};

inline constexpr int kNumClusterColors = 32;

// The colour of a cluster; colours repeat after kNumClusterColors (then the marker changes, see
// has_square_marker). -1, "no cluster", is a neutral grey.
Color cluster_color(int cluster);

// Round markers for clusters 0..31, square ones for 32..63, round again from 64, and so on.
bool has_square_marker(int cluster);

// "#3071b5".
std::string to_hex(Color color);

}  // namespace milieu

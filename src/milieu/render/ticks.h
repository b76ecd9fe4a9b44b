// SPDX-License-Identifier: Apache-2.0
// Axis ticks at round numbers (1, 2 or 5 times a power of ten), with labels that fit them.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

struct Tick {
  double value = 0;
  std::string label;  // of value / 10^exponent
};

struct Ticks {
  std::vector<Tick> ticks;  // ascending, all within the range
  int exponent = 0;         // common power of ten taken out of the labels; goes to the axis title
};

// Between 2 and about `max_count` + 1 ticks within [low, high]. A range of one point gives one
// tick; a range that is not finite, or so narrow that doubles cannot divide it, gives its ends (or
// none). With `whole_numbers` no tick falls between two integers.
Ticks nice_ticks(double low, double high, int max_count, bool whole_numbers = false);

}  // namespace milieu

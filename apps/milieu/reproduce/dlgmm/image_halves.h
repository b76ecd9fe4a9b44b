// SPDX-License-Identifier: Apache-2.0
// Halves of image sets: one that experiments may choose on, one that they report, and small draws
// from several sets together, as folders of links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace milieu::cli {

// A part of one set: of each class the images of a half, at most `most_per_class` of them.
struct ImageDraw {
  std::string set;   // its name, before those of its classes
  std::string path;  // its folder, with one folder per class
  int half = -1;     // 0: the half to choose on, 1: the half to report, -1: both
  int most_per_class = 1000;
};

// The positions of a class of n images that are in half 1, for the classes of one set in order of
// name. numpy's RandomState(7).shuffle of each class in turn, whose first halves are half 0: the
// prototypes were written in Python, and must not have seen half 1.
class HalfOf {
 public:
  HalfOf();
  std::vector<int> next_class(int n);

 private:
  uint32_t next_bits();
  std::vector<uint32_t> state_;
  size_t at_;
};

// A folder of links at `place` with one folder per class, made new; which images are drawn depends
// on `seed`.
void link_draws(const std::vector<ImageDraw>& draws, uint64_t seed, const std::string& place);

}  // namespace milieu::cli

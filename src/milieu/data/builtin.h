// SPDX-License-Identifier: Apache-2.0
// Small data sets generated on the fly, for `milieu demo`, examples and tests: no files needed. The
// same seed gives the same bits on every platform: only Random, and of the mathematics only + - * /
// and square roots, which IEEE 754 rounds alike everywhere.
#pragma once

#include <cstdint>

#include "milieu/base/export.h"
#include "milieu/data/dataset.h"

namespace MILIEU_API milieu {

inline constexpr int kBuiltinImageSide = 24;

// Grey images of simple shapes, kBuiltinImageSide pixels per side, one row each, values in [0, 1]:
// white figures on black, anti-aliased. Eight classes (bar, crescent, cross, disc, ring, square,
// star, triangle) with `num_per_class` >= 1 images each, in mixed order. Every image has its
// own position, size, rotation, contrast and noise, so that pixels alone separate the classes
// only in part: bars lie in any direction, squares and discs share most of their pixels.
Dataset make_builtin_shapes(uint64_t seed, int num_per_class = 100);

// Points in the plane, `num_per_class` >= 1 of each class, in mixed order: a core inside a ring and
// two interlocking half moons beside them (classes core, lower-moon, ring, upper-moon). What
// belongs together is connected, but no straight line separates it: centres cannot describe it.
Dataset make_builtin_rings(uint64_t seed, int num_per_class = 150);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// The hot loop of k-modes, compiled for each instruction set: v3 and v4 count bits in one
// instruction. All sets give the same result: it is whole numbers only.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

// For each of `rows` packed vectors of `words` words at points: the nearest of k packed modes under
// the Hamming distance (ties: the lowest index) and that distance.
MILIEU_DECLARE_ISA(void nearest_modes(const uint64_t* points, int64_t rows, const uint64_t* modes,
                                      int64_t k, int64_t words, int* labels, int* distances);)

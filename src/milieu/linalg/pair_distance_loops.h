// SPDX-License-Identifier: Apache-2.0
// The loops of pair_distance.h, compiled for each instruction set; same bits for all of them.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

MILIEU_DECLARE_ISA(double l1_distance(const float* a, const float* b, int64_t d);
                   double chi_squared_distance(const float* a, const float* b, int64_t d);
                   double additive_chi_squared(const float* a, const float* b, int64_t d);
                   double sum_of_minima(const float* a, const float* b, int64_t d);
                   double dot_product(const float* a, const float* b, int64_t d);)

// SPDX-License-Identifier: Apache-2.0
// The real data used instead of that of [Yu13].
#pragma once

#include <vector>

#include "milieu/linalg/matrix.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

struct RealSet {
  Matrix<float> points;
  std::vector<int> classes;
  std::vector<int> groups;  // one per row: the talker, or the batch of measurements
};

// Of f0, F1, F2, F3 the given columns; ten vowels.
RealSet load_peterson_barney(const ReproduceRun& run, const std::vector<int>& columns);
// Ten features of eleven vowels.
RealSet load_deterding(const ReproduceRun& run);
// Eight features of twelve vowels, rows without a missing formant.
RealSet load_hillenbrand(const ReproduceRun& run);
// Sensor values of six gases as logarithms; one batch, or 0 for all.
RealSet load_gases(const ReproduceRun& run, int batch);
// Digits on the first `dims` principal axes of all of them; with `is_parity` the classes are even
// and odd.
RealSet load_usps(const ReproduceRun& run, int dims, bool is_parity);

}  // namespace milieu::cli

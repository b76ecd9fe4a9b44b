// SPDX-License-Identifier: Apache-2.0
// The distances that methods on pairs of samples offer, by name, computed in blocks. Sums run in
// double over the coordinates' differences: equal rows are at distance exactly 0, and bits are the
// same on every CPU.
#pragma once

#include <cstdint>

#include "milieu/base/fields.h"
#include "milieu/linalg/matrix.h"

namespace milieu {

enum class Distance {
  Euclidean,         // sqrt(sum (a - b)^2)
  SquaredEuclidean,  // sum (a - b)^2
  L1,                // sum |a - b|
  ChiSquared,        // sum (a - b)^2 / (a + b) over coordinates with a + b > 0; features >= 0
  Cosine,            // 1 - a.b / (|a| |b|); a zero row is at distance 1 from every other row
  Precomputed,       // the input is itself a square matrix of distances
};

// The names users write: euclidean, squared-euclidean, l1, chi-squared, cosine, precomputed.
ChoiceRule<Distance> distance_choices();

// out(i, j) = distance of a_i and b_j; a is m x d, b is n x d, out is m x n. Single-threaded: call
// it on blocks of rows. Throws InvalidArgument for chi-squared on negative features.
void pair_distances(Distance distance, FloatView a, FloatView b, MatrixView<float> out);

}  // namespace milieu

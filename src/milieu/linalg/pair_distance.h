// SPDX-License-Identifier: Apache-2.0
// The distances that methods on pairs of samples offer, by name, computed in blocks. Sums run in
// double over the coordinates' differences: equal rows are at distance exactly 0, and bits are the
// same on every CPU.
#pragma once

#include <cstdint>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

enum class Distance {
  Euclidean,         // sqrt(sum (a - b)^2)
  SquaredEuclidean,  // sum (a - b)^2
  L1,                // sum |a - b|
  ChiSquared,        // sum (a - b)^2 / (a + b) over coordinates with a + b > 0; features >= 0
  Cosine,            // 1 - a.b / (|a| |b|); a zero row is at distance 1 from every other row
  Intersection,      // 1 - sum min(a, b) / max(sum a, sum b); two zero rows: 0; features >= 0
  Rbf,               // sqrt(k(a,a) + k(b,b) - 2 k(a,b)), k = exp(-gamma |a - b|^2)
                     // [Komodakis11, footnote 3]
  Precomputed,       // the input is itself a square matrix of distances
};

// The names users write: euclidean, squared-euclidean, l1, chi-squared, cosine, intersection,
// rbf, precomputed.
ChoiceRule<Distance> distance_choices();

// out(i, j) = distance of a_i and b_j; a is m x d, b is n x d, out is m x n. Single-threaded: call
// it on blocks of rows. `gamma` is that of Rbf; 0 means 1 / d (kernel.h's choose_gamma finds one
// from the data). Throws InvalidArgument for chi-squared or intersection on negative features.
void pair_distances(Distance distance, FloatView a, FloatView b, MatrixView<float> out,
                    double gamma = 0);

}  // namespace milieu

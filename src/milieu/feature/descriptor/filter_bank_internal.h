// SPDX-License-Identifier: Apache-2.0
// The filters of filter_bank.h as tables of numbers.
#pragma once

#include <vector>

#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// Filters of one size: filters x (2 radius + 1)^2, row by row.
struct FilterGroup {
  int radius = 0;
  Matrix<float> filters;
};

enum class Derivative { None, First, Second };

// Gaussian of standard deviations `along` direction `angle` (radians) and `across` it, derived
// along it; shifted to sum 0 unless it is a plain Gaussian, absolute values scaled to sum 1.
std::vector<float> oriented_filter(double along, double across, double angle, Derivative derivative,
                                   int radius);
// Laplacian of a Gaussian, shifted and scaled likewise.
std::vector<float> laplacian_filter(double sigma, int radius);

// The banks, in the order of responses: group by group, filter by filter.
const std::vector<FilterGroup>& leung_malik_bank();
const std::vector<FilterGroup>& maximum_response_bank();

}  // namespace milieu::internal

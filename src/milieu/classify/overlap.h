// SPDX-License-Identifier: Apache-2.0
// How much classes overlap: the Bhattacharyya coefficient [Bhattacharyya43], the integral of
// sqrt(p q), 1 for equal densities and 0 for densities without overlap.
#pragma once

#include <cstdint>
#include <span>

#include "milieu/base/export.h"
#include "milieu/classify/quadratic.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// Of two Gaussians, in closed form. Covariances are row-major d x d.
double gaussian_overlap(std::span<const double> mean_a, std::span<const double> covariance_a,
                        std::span<const double> mean_b, std::span<const double> covariance_b);

// classes x classes: coefficients of the class densities, each the mixture of its sub-classes'
// Gaussians. Estimated from `num_draws` samples of every class: the mean of sqrt(p q) over
// (p + q) / 2 under (p + q) / 2 lies in [0, 1] and has an error below 1 / (2 sqrt(num_draws)).
Matrix<double> class_overlaps(const QuadraticModel& model, int num_draws = 2000, uint64_t seed = 1);

// Mean over all pairs of classes; 0 for a single class.
double mean_overlap(const QuadraticModel& model, int num_draws = 2000, uint64_t seed = 1);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Density maps on a grid: counts smoothed by a Gaussian window, and the difference of density of an
// object and its context [Yu13, Algorithm 2].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/icc/density/grid.h"

namespace MILIEU_API milieu {

// Taps of a sampled Gaussian of standard deviation `sigma` cells, from -radius to radius, that sum
// to 1 [Yu13, Eq. 2 along one axis].
std::vector<double> gaussian_taps(double sigma, int radius);

// counts * Gaussian, axis by axis; the density outside the grid is 0 [Yu13, Eq. 1]. `sigmas` has
// one standard deviation in cells per axis; the window reaches window * sigma / 2 cells to each
// side.
std::vector<double> smooth_counts(std::span<const double> counts, const Grid& grid,
                                  std::span<const double> sigmas, double window,
                                  int num_threads = 1);

// Count: every sample has the same weight, as in [Yu13, Eq. 1 and 3]. Density: object and context
// sum to 1 each, however many samples they have.
enum class IccWeight { Count, Density };

// object - context [Yu13, Eq. 3] [Yu13, Eq. 4] from smoothed counts of the object and of
// everything; `n_object` and `n_context` are their samples. Rounding noise (below 1e-12 of the
// largest density) is set to 0, so that flat parts are flat.
std::vector<double> difference_of_density(std::span<const double> object,
                                          std::span<const double> everything, double n_object,
                                          double n_context, IccWeight weight);

}  // namespace milieu

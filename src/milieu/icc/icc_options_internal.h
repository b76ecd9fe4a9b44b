// SPDX-License-Identifier: Apache-2.0
// Text options, parsed into numbers.
#pragma once

#include <string>
#include <vector>

#include "milieu/icc/density/grid.h"
#include "milieu/icc/icc.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// Throws InvalidArgument "grid is '2', ..." for texts that are not a grid of `dims` axes with at
// least 3 cells each.
Grid parse_grid(const std::string& text, int dims);

// Places of the chosen axes, counted from 0, and how many axes must be found for them: those of
// `components`, or the first num_dims. Throws InvalidArgument for other texts.
struct AxisChoice {
  std::vector<int> places;
  int num_needed = 0;
};
AxisChoice parse_components(const IccOptions& options);

struct Bandwidth {
  bool is_auto = false;
  bool is_in_cells = false;
  std::vector<double> values;  // one, one per axis, or a row-major matrix of squared fractions
  bool is_matrix(int dims) const { return dims > 1 && values.size() == size_t(dims) * dims; }
};
// Throws InvalidArgument for texts that are not a bandwidth for `dims` axes.
Bandwidth parse_bandwidth(const std::string& text, int dims);

// One standard deviation in cells for each axis of the grid; not for matrices.
std::vector<double> sigmas_in_cells(const Bandwidth& bandwidth, const Grid& grid);

// Gigabytes that the maps of this grid need in total.
double map_gigabytes(const Grid& grid, int num_classes);
// Throws InvalidArgument with the estimate when it is above `max_gb`.
void check_memory(const Grid& grid, int num_classes, double max_gb);

}  // namespace milieu::internal

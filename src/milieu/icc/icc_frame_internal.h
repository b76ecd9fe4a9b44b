// SPDX-License-Identifier: Apache-2.0
// From samples to cells: the projection, the frame that all classes share, and counting.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/base/ranks/team.h"
#include "milieu/icc/icc.h"

namespace milieu::internal {

// Coordinates y = axes x + origin.
struct Projection {
  Matrix<double> axes;         // p x d
  std::vector<double> origin;  // p

  int dims() const { return static_cast<int>(axes.rows()); }
};

// Sums that the principal axes follow from, for samples that come in chunks.
class Moments {
 public:
  explicit Moments(int64_t d) : d_(d) {}
  void add(FloatView points, int num_threads, const Team& team = Team::alone());
  // The principal axes that options ask for; with `standardize` those of the correlations.
  Projection principal_axes(const IccOptions& options) const;
  int64_t count() const { return n_; }

 private:
  int64_t d_;
  int64_t n_ = 0;
  std::vector<double> pivot_;     // the first row: sums are about it
  std::vector<double> sums_;      // d
  std::vector<double> products_;  // d x d, lower triangle
};

// The columns unchanged.
Projection identity_projection(int columns);
// The axes that options.components names, of those found; all of them where it names none.
Projection choose_axes(Projection found, const IccOptions& options);

// The projection requested by options and input.
Projection fit_projection(const IccInput& input, const IccOptions& options, int num_classes);

// Lowest and highest coordinates of chunks of samples.
struct Range {
  std::vector<double> low, high;
  explicit Range(int dims);
  void add(const Projection& projection, FloatView points, int num_threads,
           const Team& team = Team::alone());
  // An axis without extent gets the length 1.
  void close();
  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(low, high);
  }
};

// Turns the axes so that the kernel whose covariance is `matrix` (squared shares of the range) lies
// along them: coordinates become shares of the range, rotated. Returns the kernel's standard
// deviations along the new axes, in those units.
std::vector<double> rotate_to_kernel(Projection& projection, const Range& range,
                                     std::span<const double> matrix);

// Cells of rows; `scaled` is cell_projection(...).
Projection cell_projection(const Projection& projection, std::span<const double> low,
                           std::span<const double> high, const Grid& grid);
void find_cells(const Projection& scaled, const Grid& grid, FloatView points, int32_t* cells);

// Samples of each class in each cell: classes x cells. Whole numbers, so that the order of counting
// does not matter. Rows of class -1 are left out; without classes all are of class 0.
class CellCounts {
 public:
  CellCounts(const Grid& grid, int num_classes)
      : grid_(grid),
        num_classes_(num_classes),
        counts_(static_cast<size_t>(grid.num_cells()) * num_classes, 0) {}
  // Stops early with the monitor. Leaves the cell of every row in `kept`, which has a place
  // for each or none at all; of a team, only its own rows.
  void add(const Projection& scaled, FloatView points, std::span<const int> classes,
           int num_threads, const Monitor& monitor, std::span<int32_t> kept = {},
           const Team& team = Team::alone());
  std::span<const int32_t> of_class(int c) const {
    return {counts_.data() + static_cast<size_t>(c) * grid_.num_cells(),
            static_cast<size_t>(grid_.num_cells())};
  }
  int num_classes() const { return num_classes_; }
  const Grid& grid() const { return grid_; }
  // How the rows of a team are cut.
  static constexpr int64_t kBlockRows = 1 << 14;

 private:
  void add_own(const Projection& scaled, FloatView points, std::span<const int> classes,
               int num_threads, const Monitor& monitor, std::span<int32_t> kept);

  Grid grid_;
  int num_classes_;
  std::vector<int32_t> counts_;
};

}  // namespace milieu::internal

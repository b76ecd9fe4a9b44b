// SPDX-License-Identifier: Apache-2.0
// The steps of mean shift: seeds, one move of all of them, the merging of modes. See mean_shift.cc
// for the problem and the symbols.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/classic/meanshift/mean_shift.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu::internal {

// What a kernel does with a squared distance.
class ShiftKernel {
 public:
  ShiftKernel(MeanShiftKernel kernel, double bandwidth);

  // Samples farther than this have no weight.
  double reach() const { return reach_; }
  // g(d^2 / h^2): the weight of a sample in the mean.
  double weight(double squared_distance) const;
  // k(d^2 / h^2): what a sample adds to the density that the moves climb.
  double density(double squared_distance) const;

 private:
  MeanShiftKernel kernel_;
  double squared_bandwidth_;
  double reach_;
  double offset_;  // makes the density continuous at the reach
};

// Rows of the samples that start, ascending. Throws InvalidArgument when bins are asked to hold
// more samples than any does.
std::vector<int> choose_seeds(FloatView points, double bandwidth, const MeanShiftOptions& options);

// Positions on their way. All vectors have one entry per seed.
struct Seeds {
  Matrix<float> positions;      // s x d
  std::vector<double> density;  // at the position; 0 before it was first measured
  std::vector<uint8_t> is_resting;
};

// Measures the density at the position of every seed that does not rest, and moves it to the
// weighted mean of the samples around it [Comaniciu02, Eq. 20]; one whose move is at most
// `tolerance` long stays and rests. With `may_move` false all stay. False when the monitor stopped
// it: some seeds are then not measured.
bool move_seeds(const NeighborIndex& index, FloatView points, const ShiftKernel& kernel,
                double tolerance, bool may_move, int num_threads, const Monitor& monitor,
                Seeds& seeds);

// The positions that remain of `candidates` (indices of seeds): densest first, ties to the lowest
// index, each kept unless it lies within the bandwidth of one kept before. A stop ends it early.
Matrix<float> merge_modes(const Seeds& seeds, std::vector<int> candidates, double bandwidth,
                          const Monitor& monitor);

}  // namespace milieu::internal

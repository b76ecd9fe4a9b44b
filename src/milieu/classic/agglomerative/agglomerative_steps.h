// SPDX-License-Identifier: Apache-2.0
// The steps of agglomerative clustering: distances of all pairs, merges by nearest-neighbour
// chains, the tree in SciPy's convention, cuts of it. See agglomerative.cc for the problem.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/classic/agglomerative/agglomerative.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// The distances of all pairs of n things, each once, as float: row i holds those to things j < i,
// so that a row is contiguous and a column is not.
class PairDistances {
 public:
  explicit PairDistances(int64_t n);

  static int64_t num_pairs(int64_t n) { return n * (n - 1) / 2; }
  static double gigabytes(int64_t n) { return static_cast<double>(num_pairs(n)) * 4e-9; }

  int64_t size() const { return n_; }
  // Row i: the distances to j < i.
  float* row(int64_t i) { return values_.get() + num_pairs(i); }
  const float* row(int64_t i) const { return values_.get() + num_pairs(i); }
  // i and j differ, in either order.
  float& operator()(int64_t i, int64_t j) { return i > j ? row(i)[j] : row(j)[i]; }
  float operator()(int64_t i, int64_t j) const { return i > j ? row(i)[j] : row(j)[i]; }

 private:
  struct Free {
    void operator()(float* values) const;
  };

  int64_t n_;
  std::unique_ptr<float[], Free> values_;  // never zeroed: every entry is written before it is read
};

// The power of two just below the widest range of a coordinate (1 when there is none): distances in
// this unit, squared or not, neither overflow nor vanish in float.
double distance_unit(FloatView points);

// Fills in the Euclidean distances of the rows in the given unit. False when the monitor stopped
// it.
bool measure_pairs(FloatView points, double unit, int num_threads, Monitor& monitor,
                   PairDistances& distances);

// Two clusters become one; each is named by its sample of lowest index, and the new cluster keeps
// the lower name.
struct Merge {
  int kept = 0;
  int dropped = 0;
  double height = 0;
};

// All n - 1 merges, children before parents, in the order in which the chains find them; fewer when
// the monitor stops it. Heights are multiplied by `unit`. `distances` is used up. Not for Ward's
// linkage: merge_by_means (ward_internal.h) does without distances of all pairs.
std::vector<Merge> merge_by_chains(PairDistances& distances, double unit, Linkage linkage,
                                   Monitor& monitor);

// The merges in ascending order of height (equal heights as they come) as rows of SciPy's linkage
// matrix.
Matrix<double> build_tree(std::vector<Merge> merges, int64_t n);

// Labels after the first `num_merges` rows of the tree of n samples, numbered by first occurrence.
std::vector<int> labels_after(DoubleView tree, int64_t n, int64_t num_merges);

// How many rows have a height of at most `height`.
int64_t merges_up_to(DoubleView tree, double height);

}  // namespace milieu::internal

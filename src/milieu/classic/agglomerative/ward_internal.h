// SPDX-License-Identifier: Apache-2.0
// Ward's tree from means and sizes alone, in memory linear in n. See ward.cc for the problem.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/classic/agglomerative/agglomerative_steps.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// A pair of clusters as Ward's linkage orders them: by cost, then by a fixed hash of the two names,
// so that among equal costs no cluster is everybody's first choice.
struct WardPair {
  double cost = std::numeric_limits<double>::infinity();  // squared height
  uint64_t tie = 0;
  int other = -1;   // row of the partner
  int version = 0;  // of the partner, when it was found

  friend bool operator<(const WardPair& a, const WardPair& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.tie < b.tie;
  }
};

// Clusters, one per row, in ascending order of their names (lowest samples). A cluster that joined
// another leaves an empty row until compact().
class WardClusters {
 public:
  // One cluster for each group of equal points; coordinates are divided by `unit`.
  WardClusters(FloatView points, const std::vector<int>& first_rows,
               const std::vector<int>& group_from_row, double unit);

  int64_t num_rows() const { return static_cast<int64_t>(names_.size()); }
  int64_t num_left() const { return num_left_; }
  bool is_empty(int64_t row) const { return sizes_[row] == 0; }
  // Grows whenever the cluster of the row changes.
  int version(int64_t row) const { return versions_[row]; }
  int name(int64_t row) const { return names_[row]; }
  // Squared height of joining two rows, and its place among equal ones.
  WardPair pair(int64_t row, int64_t other) const;
  // The first partner of `row` in the order of pairs, for every row of `queries`. False when the
  // monitor stopped the search.
  bool find_first_partners(const std::vector<int>& queries, int num_threads, Monitor& monitor,
                           std::vector<WardPair>& found) const;
  // Row `other` joins `row`.
  void join(int64_t row, int64_t other);
  // Removes empty rows; the new number of each old row, -1 for those that are gone.
  std::vector<int> compact();

  static double gigabytes(int64_t n, int64_t d) {
    return static_cast<double>(n) * (12.0 * static_cast<double>(d) + 96) * 1e-9;
  }

 private:
  void set_float_row(int64_t row);
  void search_block(std::span<const int> queries, const Monitor& monitor,
                    std::span<WardPair> found) const;
  void offer(int64_t row, int64_t begin, std::span<const float> products, WardPair& best) const;

  Matrix<double> means_;       // in units, minus the mean of all
  Matrix<float> rounded_;      // the same for the product
  std::vector<float> norms_;   // squared, of rounded_; infinite for an empty row
  std::vector<float> shares_;  // 1 / size
  std::vector<int64_t> sizes_;
  std::vector<int> names_;
  std::vector<int> versions_;
  int64_t num_left_ = 0;
  float largest_norm_ = 0;
};

// All merges, children before parents, as merge_by_chains gives them.
std::vector<Merge> merge_by_means(FloatView points, double unit, int num_threads, Monitor& monitor);

}  // namespace milieu::internal

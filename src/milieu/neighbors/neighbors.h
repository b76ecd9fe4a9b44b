// SPDX-License-Identifier: Apache-2.0
// Exact nearest neighbours and radius search under the Euclidean distance.
//
// Exact means: squared distances are those of linalg's squared_distance (differences and sum in
// double), and no neighbour is missed by rounding. In few dimensions a kd-tree (nanoflann) finds
// the candidates, in many a blocked product; both give the same bits. Neighbours of a query are
// in ascending order of distance, ties in ascending order of index. The result does not depend on
// the number of threads. Memory: the results, and a few MB for each thread; never n x n.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

namespace internal {
class SearchEngine;
}

// How candidates are found; the result does not depend on it. Auto takes the tree up to
// kMaxTreeDimensions columns, brute force above.
enum class NeighborSearch { Auto, Tree, BruteForce };
inline constexpr int64_t kMaxTreeDimensions = 8;

struct NeighborOptions {
  NeighborSearch search = NeighborSearch::Auto;
  // The queries are the points themselves, row for row, and no point is its own neighbour. Points
  // equal to it at other rows are.
  bool exclude_self = false;
  int num_threads = 0;  // 0: all cores
  // False leaves the neighbours of a radius search in the order in which they are found, which is
  // always the same but depends on `search`: faster where their order does not matter.
  bool is_sorted = true;
  // A radius search that finds more pairs than this is refused with InvalidArgument: each pair
  // takes 12 bytes, and a radius too large would fill the memory with n x m of them.
  int64_t max_num_pairs = 250'000'000;
};

// The k nearest of m queries. There are min(k, n) columns, or min(k, n - 1) with exclude_self.
struct NeighborLists {
  Matrix<int> indices;               // m x k rows of `points`
  Matrix<double> squared_distances;  // m x k
  // False when the monitor stopped the search: rows that were not searched then hold index -1 and
  // infinite distances.
  bool is_complete = true;
};

// All neighbours within a radius, in compressed rows: those of query i are entries
// [offsets[i], offsets[i + 1]).
struct RadiusNeighbors {
  std::vector<int64_t> offsets;           // m + 1
  std::vector<int> indices;               // rows of `points`
  std::vector<double> squared_distances;  // at most radius^2
  bool is_complete = true;                // as above; rows that were not searched are empty
};

// Points prepared for many searches. Refers to `points`, which must outlive it unchanged. Throws
// what check_points throws. Searching is const and may be done from several threads at a time; the
// monitor gets its progress (stage "neighbors") from the calling thread.
class NeighborIndex {
 public:
  explicit NeighborIndex(FloatView points, NeighborSearch search = NeighborSearch::Auto);
  ~NeighborIndex();
  NeighborIndex(NeighborIndex&&) noexcept;
  NeighborIndex& operator=(NeighborIndex&&) noexcept;

  // The search that was chosen: Tree or BruteForce.
  NeighborSearch search() const { return search_; }

  // queries is m x d, finite; k >= 1. `options.search` is ignored.
  NeighborLists nearest(FloatView queries, int k, const NeighborOptions& options = {},
                        Monitor& monitor = silent_monitor()) const;

  // Points whose squared distance is at most radius * radius; radius >= 0 and finite.
  RadiusNeighbors within(FloatView queries, double radius, const NeighborOptions& options = {},
                         Monitor& monitor = silent_monitor()) const;

 private:
  FloatView points_;
  NeighborSearch search_;
  std::unique_ptr<internal::SearchEngine> engine_;
};

// One search: NeighborIndex(points, options.search) and the query.
NeighborLists nearest_neighbors(FloatView points, FloatView queries, int k,
                                const NeighborOptions& options = {},
                                Monitor& monitor = silent_monitor());
RadiusNeighbors radius_neighbors(FloatView points, FloatView queries, double radius,
                                 const NeighborOptions& options = {},
                                 Monitor& monitor = silent_monitor());

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// The search in few dimensions: nanoflann's kd-tree with distances in double and a result set that
// breaks ties by index.
#include <nanoflann.hpp>

#include <array>
#include <cmath>

#include "milieu/neighbors/engine_internal.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu::internal {
namespace {

// What nanoflann reads points through; coordinates as double, so that it subtracts in double.
struct PointSource {
  FloatView points;

  size_t kdtree_get_point_count() const { return static_cast<size_t>(points.rows()); }
  double kdtree_get_pt(uint32_t i, size_t j) const {
    return points.data()[i * points.stride() + static_cast<int64_t>(j)];
  }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

// The squared distance, summed in the order of linalg's squared_distance: the same bits.
struct PairwiseSum {
  using ElementType = double;
  using DistanceType = double;

  explicit PairwiseSum(const PointSource& point_source) : source(point_source) {}

  double evalMetric(const double* query, uint32_t i, size_t size) const {
    static_assert(kMaxTreeDimensions == 8);
    double t[8] = {};
    for (size_t j = 0; j < size; ++j) {
      const double difference = query[j] - source.kdtree_get_pt(i, j);
      t[j] = difference * difference;
    }
    return ((t[0] + t[4]) + (t[2] + t[6])) + ((t[1] + t[5]) + (t[3] + t[7]));
  }

  double accum_dist(double a, double b, int) const { return (a - b) * (a - b); }

  const PointSource& source;
};

// nanoflann offers points nearer than worstDist() and visits branches not farther than it; the next
// larger double makes it offer points at equal distance as well.
struct CandidateSet {
  Candidates& candidates;

  bool addPoint(double squared_distance, uint32_t i) {
    candidates.add(squared_distance, static_cast<int>(i));
    return true;
  }
  double worstDist() const {
    return std::nextafter(candidates.bound(), std::numeric_limits<double>::infinity());
  }
  bool full() const { return true; }
};

class KdTree final : public SearchEngine {
 public:
  explicit KdTree(FloatView points)
      : source_{points}, tree_(static_cast<int32_t>(points.cols()), source_, kLeafSize) {}

  int64_t block_size() const override { return 64; }

  bool search(FloatView queries, std::span<Candidates> candidates,
              const Monitor& monitor) const override {
    // The distance of a branch is a sum with rounding errors; a branch is left out only when it is
    // farther by more than they can amount to.
    const nanoflann::SearchParams params(0, -1e-5f);
    for (int64_t i = 0; i < queries.rows(); ++i) {
      if (i % 8 == 0 && monitor.should_stop()) return false;
      std::array<double, kMaxTreeDimensions> query{};
      std::copy_n(queries.row(i), queries.cols(), query.begin());
      CandidateSet set{candidates[i]};
      tree_.findNeighbors(set, query.data(), params);
    }
    return true;
  }

 private:
  static constexpr size_t kLeafSize = 16;

  PointSource source_;
  nanoflann::KDTreeSingleIndexAdaptor<PairwiseSum, PointSource, -1, uint32_t> tree_;
};

}  // namespace

std::unique_ptr<SearchEngine> make_kd_tree(FloatView points) {
  return std::make_unique<KdTree>(points);
}

}  // namespace milieu::internal

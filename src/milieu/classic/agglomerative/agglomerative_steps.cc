// SPDX-License-Identifier: Apache-2.0
// Distances of all pairs and merges by nearest-neighbour chains; agglomerative.cc has the problem
// and the conventions.
#include "milieu/classic/agglomerative/agglomerative_steps.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "milieu/base/assert.h"
#include "milieu/base/parallel.h"
#include "milieu/linalg/distance.h"
#include "milieu/neighbors/check_points.h"

namespace milieu::internal {

namespace {

constexpr std::align_val_t kLargePage{2 << 20};

}  // namespace

PairDistances::PairDistances(int64_t n) : n_(n) {
  const size_t bytes = static_cast<size_t>(num_pairs(n)) * sizeof(float);
  values_.reset(static_cast<float*>(::operator new[](bytes, kLargePage)));
#ifdef __linux__
  // A walk along a column touches a new page at every step; large pages make it almost twice as
  // fast. The system may decline, which changes nothing but time.
  if (bytes >= static_cast<size_t>(kLargePage)) madvise(values_.get(), bytes, MADV_HUGEPAGE);
#endif
}

void PairDistances::Free::operator()(float* values) const {
  ::operator delete[](values, kLargePage);
}

double distance_unit(FloatView points) {
  const double widest = widest_range(points);
  return widest > 0 ? std::ldexp(1.0, std::ilogb(widest)) : 1;
}

bool measure_pairs(FloatView points, double unit, int num_threads, Monitor& monitor,
                   PairDistances& distances) {
  constexpr int64_t kRowsPerBlock = 16;
  constexpr int64_t kRowsPerStage = 512;  // between two calls of on_progress
  const int64_t n = points.rows();
  const double scale = 1 / (unit * unit);
  std::atomic<bool> is_stopped = false;
  const auto measure_row = [&](int64_t i) {
    float* row = distances.row(i);
    for (int64_t j = 0; j < i; ++j) {
      const double squared = scale * squared_distance(points.row(i), points.row(j), points.cols());
      row[j] = static_cast<float>(std::sqrt(squared));
    }
  };
  for (int64_t begin = 0; begin < n && !is_stopped; begin += kRowsPerStage) {
    monitor.on_progress("distances", PairDistances::num_pairs(begin), PairDistances::num_pairs(n));
    const int64_t count = std::min(kRowsPerStage, n - begin);
    parallel_for(count, kRowsPerBlock, num_threads, [&](const Block& block) {
      for (int64_t i = begin + block.begin; i < begin + block.end; ++i) {
        if (monitor.should_stop()) is_stopped = true;
        if (is_stopped) return;
        measure_row(i);
      }
    });
  }
  return !is_stopped;
}

namespace {

// The clusters that are still there and the distances between them.
class ActiveClusters {
 public:
  ActiveClusters(PairDistances& distances, Linkage linkage)
      : distances_(distances), linkage_(linkage), sizes_(distances.size(), 1) {
    names_.resize(distances.size());
    for (size_t i = 0; i < names_.size(); ++i) names_[i] = static_cast<int>(i);
  }

  int count() const { return static_cast<int>(names_.size()); }
  int lowest_name() const { return names_.front(); }
  float distance(int a, int b) const { return distances_(a, b); }

  // The nearest cluster of x. Ties go to `preferred` (-1: none), then to the lowest number.
  int nearest(int x, int preferred) const {
    int best = preferred;
    float best_distance =
        preferred < 0 ? std::numeric_limits<float>::infinity() : distances_(x, preferred);
    const auto offer = [&](int name, float distance) {
      if (distance < best_distance) {
        best = name;
        best_distance = distance;
      }
    };
    size_t i = 0;
    const float* row = distances_.row(x);
    for (; names_[i] < x; ++i) offer(names_[i], row[names_[i]]);
    for (++i; i < names_.size(); ++i) offer(names_[i], distances_.row(names_[i])[x]);
    return best;
  }

  // Joins b to a, a < b: a now names the union.
  void merge(int a, int b) {
    MILIEU_ASSERT(a < b);
    names_.erase(std::lower_bound(names_.begin(), names_.end(), b));
    for (const int k : names_)
      if (k != a) distances_(k, a) = updated(distances_(k, a), distances_(k, b), a, b);
    sizes_[a] += sizes_[b];
  }

 private:
  // Distance of a cluster to the union of a and b, from its distances to both: the formula of Lance
  // and Williams [Muellner11]. Never below the smaller of the two, rounding included, which is what
  // the chains rely on.
  float updated(float to_a, float to_b, int a, int b) const {
    if (linkage_ == Linkage::Single) return std::min(to_a, to_b);
    if (linkage_ == Linkage::Complete) return std::max(to_a, to_b);
    const auto size_a = static_cast<double>(sizes_[a]);
    const auto size_b = static_cast<double>(sizes_[b]);
    return static_cast<float>((size_a * to_a + size_b * to_b) / (size_a + size_b));
  }

  PairDistances& distances_;
  Linkage linkage_;
  std::vector<int> names_;      // ascending
  std::vector<int64_t> sizes_;  // by name
};

}  // namespace

std::vector<Merge> merge_by_chains(PairDistances& distances, double unit, Linkage linkage,
                                   Monitor& monitor) {
  constexpr int64_t kMergesPerReport = 256;
  const int64_t n = distances.size();
  ActiveClusters clusters(distances, linkage);
  std::vector<Merge> merges;
  std::vector<int> chain;  // each is the nearest of the one before; distances fall along it
  merges.reserve(n - 1);
  while (clusters.count() > 1) {
    if (monitor.should_stop()) break;
    if (static_cast<int64_t>(merges.size()) % kMergesPerReport == 0)
      monitor.on_progress("merges", static_cast<int64_t>(merges.size()), n - 1);
    if (chain.empty()) chain.push_back(clusters.lowest_name());
    const int tip = chain.back();
    const int before = chain.size() > 1 ? chain[chain.size() - 2] : -1;
    const int next = clusters.nearest(tip, before);
    if (next != before) {
      chain.push_back(next);
      continue;
    }
    const auto [kept, dropped] = std::minmax(tip, before);
    merges.push_back({kept, dropped, unit * clusters.distance(tip, before)});
    clusters.merge(kept, dropped);
    chain.resize(chain.size() - 2);
  }
  return merges;
}

}  // namespace milieu::internal

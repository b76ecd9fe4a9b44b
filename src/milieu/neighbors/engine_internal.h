// SPDX-License-Identifier: Apache-2.0
// What the two ways of finding neighbours share: the list of candidates of one query, and the
// interface that neighbors.cc drives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

struct Neighbor {
  double squared_distance = 0;
  int index = 0;

  friend bool operator<(const Neighbor& a, const Neighbor& b) {
    return a.squared_distance != b.squared_distance ? a.squared_distance < b.squared_distance
                                                    : a.index < b.index;
  }
};

// The best `max_count` neighbours within a distance seen so far, in any order of arrival. A heap
// once it is full; a plain list before, which is all that a radius search needs.
class Candidates {
 public:
  Candidates() = default;
  Candidates(int64_t max_count, double max_squared_distance, int64_t excluded_index)
      : max_count_(max_count), bound_(max_squared_distance), excluded_index_(excluded_index) {}

  // A pair farther apart than this cannot enter; one exactly as far may, by its index.
  double bound() const { return bound_; }

  void add(double squared_distance, int index) {
    if (!(squared_distance <= bound_) || index == excluded_index_) return;
    const Neighbor neighbor{squared_distance, index};
    if (static_cast<int64_t>(found_.size()) < max_count_) {
      found_.push_back(neighbor);
      if (static_cast<int64_t>(found_.size()) < max_count_) return;
      std::make_heap(found_.begin(), found_.end());
    } else if (neighbor < found_.front()) {
      std::pop_heap(found_.begin(), found_.end());
      found_.back() = neighbor;
      std::push_heap(found_.begin(), found_.end());
    }
    bound_ = found_.front().squared_distance;
  }

  // As found, which is in no order once the list is full.
  std::span<const Neighbor> found() const { return found_; }

  // Ascending; ends the collection.
  std::span<const Neighbor> sorted() {
    std::sort(found_.begin(), found_.end());
    return found_;
  }

 private:
  int64_t max_count_ = 0;
  double bound_ = 0;
  int64_t excluded_index_ = -1;
  std::vector<Neighbor> found_;
};

class SearchEngine {
 public:
  virtual ~SearchEngine() = default;

  // Queries that are worth searching together.
  virtual int64_t block_size() const = 0;

  // Offers every point that may enter candidates[i] to it, for each row i of `queries`. False when
  // the monitor stopped the search; discard the candidates then.
  virtual bool search(FloatView queries, std::span<Candidates> candidates,
                      const Monitor& monitor) const = 0;
};

std::unique_ptr<SearchEngine> make_kd_tree(FloatView points);  // at most kMaxTreeDimensions columns
std::unique_ptr<SearchEngine> make_brute_force(FloatView points);

}  // namespace milieu::internal

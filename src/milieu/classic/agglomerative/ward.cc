// SPDX-License-Identifier: Apache-2.0
// Problem      Ward's tree of n samples without the distances of all pairs.
// Given        the rows; clusters are known by their means and sizes, and the cost of joining A and
//              B is 2 |A||B| / (|A| + |B|) |mean A - mean B|^2, the squared height.
// Find         the n - 1 merges.
// Conventions  Equal rows are joined first, at height 0, each with the lowest of them.
//              Then rounds: every cluster has its first partner in the order of pairs (cost, then a
//              fixed hash of the names); two that are each other's first partner are joined, all of
//              them at once, since joining others never makes a pair cheaper [Muellner11]. Only
//              clusters that were joined or have lost their partner search again, many at a time,
//              through the float product. Where a round joins few of those that searched, chains of
//              nearest neighbours take over, which search for one cluster at a time and need at
//              most three searches per merge.
//              Rounding: after a search a partner whose own first pair is worse takes the better
//              one, so that the best pair of all is always mutual; a parent is never lower than its
//              children.
// See          docs/algorithms/agglomerative.md
#include <algorithm>
#include <cmath>
#include <utility>

#include "milieu/classic/agglomerative/ward_internal.h"
#include "milieu/neighbors/distinct_rows.h"

namespace milieu::internal {
namespace {

// Searches per merge from which on one search at a time is better than many together.
constexpr int64_t kSearchesPerMerge = 32;
constexpr int64_t kMergesPerReport = 256;

class WardTree {
 public:
  WardTree(FloatView points, double unit, int num_threads, Monitor& monitor)
      : WardTree(points, unit, num_threads, monitor, group_equal_rows(points)) {}

  std::vector<Merge> grow() {
    while (clusters_.num_left() > 1 && !is_stopped_)
      if (is_chained_)
        run_chain();
      else
        run_round();
    return std::move(merges_);
  }

 private:
  WardTree(FloatView points, double unit, int num_threads, Monitor& monitor,
           const RowGroups& groups)
      : clusters_(points, groups.first_rows, groups.group_from_row, unit),
        firsts_(groups.first_rows.size()),
        heights_(points.rows()),
        unit_(unit),
        num_merges_(points.rows() - 1),
        num_threads_(num_threads),
        monitor_(monitor) {
    merges_.reserve(num_merges_);
    for (int64_t i = 0; i < points.rows(); ++i) {
      const int first = groups.first_rows[groups.group_from_row[i]];
      if (first != i) merges_.push_back({first, static_cast<int>(i), 0});
    }
  }

  bool is_known(int64_t row) const {
    const WardPair& first = firsts_[row];
    return first.other >= 0 && first.version == clusters_.version(first.other);
  }

  // False when the monitor stopped it.
  bool search(const std::vector<int>& rows) {
    std::vector<WardPair> found;
    is_stopped_ = !clusters_.find_first_partners(rows, num_threads_, monitor_, found);
    if (is_stopped_) return false;
    for (size_t q = 0; q < rows.size(); ++q) firsts_[rows[q]] = found[q];
    for (const int row : rows) {
      WardPair back = firsts_[row];
      const int64_t other = std::exchange(back.other, row);
      back.version = clusters_.version(row);
      if (is_known(other) && back < firsts_[other]) firsts_[other] = back;
    }
    return true;
  }

  bool is_mutual(int64_t row) const {
    const int64_t other = firsts_[row].other;
    return is_known(row) && is_known(other) && firsts_[other].other == row;
  }

  void join(int64_t row, int64_t other) {
    const auto [kept, dropped] = std::minmax(row, other);
    const int name = clusters_.name(kept);
    const int gone = clusters_.name(dropped);
    const double height =
        std::max({unit_ * std::sqrt(firsts_[row].cost), heights_[name], heights_[gone]});
    merges_.push_back({name, gone, height});
    heights_[name] = height;
    clusters_.join(kept, dropped);
    if (static_cast<int64_t>(merges_.size()) % kMergesPerReport == 0)
      monitor_.on_progress("merges", static_cast<int64_t>(merges_.size()), num_merges_);
  }

  // Removes empty rows once they are a quarter of all.
  void compact() {
    if (4 * clusters_.num_left() > 3 * clusters_.num_rows()) return;
    std::vector<char> known;
    for (int64_t i = 0; i < clusters_.num_rows(); ++i) known.push_back(is_known(i));
    const std::vector<int> new_rows = clusters_.compact();
    for (size_t i = 0; i < new_rows.size(); ++i) {
      if (new_rows[i] < 0) continue;
      WardPair first = firsts_[i];
      first.other = known[i] ? new_rows[first.other] : -1;
      firsts_[new_rows[i]] = first;
    }
    firsts_.resize(clusters_.num_rows());
  }

  void run_round() {
    std::vector<int> rows;
    for (int i = 0; i < clusters_.num_rows(); ++i)
      if (!clusters_.is_empty(i) && !is_known(i)) rows.push_back(i);
    if (!search(rows)) return;
    int64_t num_joined = 0;
    for (int64_t i = 0; i < clusters_.num_rows(); ++i)
      if (!clusters_.is_empty(i) && is_mutual(i)) join(i, firsts_[i].other), ++num_joined;
    compact();
    is_chained_ = num_joined * kSearchesPerMerge < static_cast<int64_t>(rows.size());
  }

  // From the first cluster to its first partner, from there to its own, until two are mutual.
  void run_chain() {
    int64_t tip = 0;
    while (clusters_.is_empty(tip)) ++tip;
    for (; !is_mutual(tip); tip = is_known(tip) ? firsts_[tip].other : tip)
      if (monitor_.should_stop() || (!is_known(tip) && !search({static_cast<int>(tip)}))) {
        is_stopped_ = true;
        return;
      }
    join(tip, firsts_[tip].other);
    compact();
  }

  WardClusters clusters_;
  std::vector<WardPair> firsts_;  // of every row; other is -1 where it must be searched
  std::vector<double> heights_;   // by name
  std::vector<Merge> merges_;
  double unit_;
  int64_t num_merges_;
  int num_threads_;
  Monitor& monitor_;
  bool is_chained_ = false;
  bool is_stopped_ = false;
};

}  // namespace

std::vector<Merge> merge_by_means(FloatView points, double unit, int num_threads,
                                  Monitor& monitor) {
  return WardTree(points, unit, num_threads, monitor).grow();
}

}  // namespace milieu::internal

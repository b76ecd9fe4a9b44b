// SPDX-License-Identifier: Apache-2.0
// The rows of a data set as ranks share them (communicator.h). Rows are cut into the shards of
// parallel.h; each rank owns a stretch of whole shards, [begin, end), and has no other rows: all
// arrays of a method that have one entry per row are of own rows, counted from 0. A reduction sums
// each shard where it is and merges shards along the same fixed tree as on one rank: the same bits
// for any number of ranks.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/base/parallel.h"
#include "milieu/base/ranks/communicator.h"
#include "milieu/base/ranks/packing.h"

namespace MILIEU_API milieu {

struct RunSummary;

class Rows {
 public:
  Rows() : Rows(0, 1) {}
  // Cut for blocks of `block_size` rows and shared by `ranks`, which must outlive the object.
  Rows(int64_t n, int64_t block_size, Communicator& ranks = single_rank());

  int64_t size() const { return n_; }  // of all ranks together
  int64_t own_size() const { return end_ - begin_; }
  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }
  bool owns(int64_t row) const { return row >= begin_ && row < end_; }
  bool is_shared() const { return ranks_->size() > 1; }
  Communicator& ranks() const { return *ranks_; }

  int owner_of_shard(int64_t shard) const;
  int owner(int64_t row) const;
  int64_t block_size() const { return block_size_; }
  Shards shards() const { return Shards(n_, block_size_); }
  std::pair<int64_t, int64_t> own_shards() const;          // [first, second)
  std::pair<int64_t, int64_t> stretch_of(int rank) const;  // its rows, [first, second)

  // True on all ranks when it is on one: a stop that all must follow.
  bool any(bool mine) const { return is_shared() ? ranks_->largest(mine ? 1 : 0) == 1 : mine; }
  // The reason to stop that all ranks act upon.
  StopReason agree(StopReason mine) const {
    return static_cast<StopReason>(largest(static_cast<int>(mine)));
  }
  int largest(int mine) const { return is_shared() ? ranks_->largest(mine) : mine; }

  // Every rank gets the values that the owner of `row` has.
  template <class T>
  void share_from_owner(int64_t row, std::span<T> values) const {
    if (!is_shared()) return;
    const int root = owner(row);
    Message message = ranks_->rank() == root ? pack_span<T>(values) : Message();
    ranks_->broadcast(root, message);
    unpack_span(message, values);
  }

  // The values of all rows, on every rank; `own` has one for every own row, or one for every
  // `rows_per_value` of them.
  template <class T>
  std::vector<T> gather(std::span<const T> own, int64_t rows_per_value = 1) const {
    if (!is_shared()) return {own.begin(), own.end()};
    std::vector<T> all;
    all.reserve(num_blocks(n_, rows_per_value));
    for (int r = 0; r < ranks_->size(); ++r) {
      const auto [begin, end] = stretch_of(r);
      std::vector<T> part(num_blocks(end - begin, rows_per_value));
      if (part.empty()) continue;
      Message message = ranks_->rank() == r ? pack_span<T>(own) : Message();
      ranks_->broadcast(r, message);
      unpack_span<T>(message, part);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  // All values on rank 0, none on the others; `own` has `values_per_row` for every own row.
  template <class T>
  std::vector<T> gather_to_first(std::span<const T> own, int64_t values_per_row = 1) const {
    if (ranks_->rank() != 0) {
      ranks_->send(0, pack_span<T>(own));
      return {};
    }
    std::vector<T> all(own.begin(), own.end());
    for (int r = 1; r < ranks_->size(); ++r) {
      const auto [begin, end] = stretch_of(r);
      all.resize(end * values_per_row);
      unpack_span<T>(ranks_->receive(r), std::span<T>(all).subspan(begin * values_per_row));
    }
    return all;
  }

 private:
  Communicator* ranks_;
  int64_t n_;
  int64_t block_size_;
  int64_t begin_ = 0;
  int64_t end_ = 0;
};

// set_sizes of summary.h for labels of own rows; the sizes are those of all ranks.
void set_sizes(RunSummary& summary, const Rows& rows, std::span<const int> own_labels,
               int num_clusters);

namespace internal {

// The largest nodes of the tree, of at most `max_width` shards, that make up [first, last).
struct TreeNode {
  int64_t first = 0;
  int64_t width = 0;
};
std::vector<TreeNode> cut_stretch(int64_t first, int64_t last, int64_t count, int64_t max_width);

// One rank's part in merging a tree whose leaves lie on several ranks. The statistics of a node are
// with the owner of its first shard.
template <class Stats, class Merge>
class SharedTree {
 public:
  using Nodes = std::map<std::pair<int64_t, int64_t>, Stats>;  // own, by first shard and width

  SharedTree(const Rows& rows, int64_t count, Nodes nodes, Merge& merge)
      : rows_(rows), count_(count), nodes_(std::move(nodes)), merge_(merge) {}

  // The node's statistics, where this rank has them.
  std::optional<Stats> climb(int64_t first, int64_t width, const Stats& zero) {
    if (const auto own = nodes_.find({first, width}); own != nodes_.end())
      return std::move(own->second);
    const int64_t last = std::min(first + width, count_) - 1;
    const int holder = rows_.owner_of_shard(first);
    const int me = rows_.ranks().rank();
    if (width == 1 || (holder == rows_.owner_of_shard(last) && holder != me)) return std::nullopt;
    const int64_t half = width / 2;
    std::optional<Stats> left = climb(first, half, zero);
    if (first + half > last) return left;
    std::optional<Stats> right = climb(first + half, half, zero);
    const int giver = rows_.owner_of_shard(first + half);
    if (giver != holder && giver == me) rows_.ranks().send(holder, pack(*right));
    if (holder != me) return std::nullopt;
    if (giver != me) unpack(rows_.ranks().receive(giver), right.emplace(zero));
    merge_(*left, std::as_const(*right));
    return left;
  }

 private:
  const Rows& rows_;
  int64_t count_;
  Nodes nodes_;
  Merge& merge_;
};

}  // namespace internal

// parallel_reduce over the rows of all ranks; every rank gets the result. `accumulate` sees blocks
// as places in this rank's own rows; their index counts from the first row of all. Statistics
// declare their arrays (packing.h).
template <class Stats, class Accumulate, class Merge>
Stats parallel_reduce(const Rows& rows, int num_threads, const Stats& zero, Accumulate&& accumulate,
                      Merge&& merge) {
  if (!rows.is_shared())
    return parallel_reduce(rows.size(), rows.block_size(), num_threads, zero, accumulate, merge);
  const Shards shards = rows.shards();
  const int64_t count = shards.count();
  if (count == 0) return zero;
  auto add_block = [&](const Block& block, Stats& stats) {
    accumulate(Block{block.index, block.begin - rows.begin(), block.end - rows.begin()}, stats);
  };
  auto sum_shard = [&](int64_t index) { return shards.sum(index, zero, add_block); };
  const auto [first, last] = rows.own_shards();
  const std::vector<internal::TreeNode> cut = internal::cut_stretch(
      first, last, count, std::max<int64_t>(1, (last - first) / internal::reduction_tasks(zero)));
  std::vector<std::optional<Stats>> parts(cut.size());
  parallel_for(static_cast<int64_t>(cut.size()), 1, num_threads, [&](const Block& task) {
    const auto [node, width] = cut[task.index];
    parts[task.index] = internal::reduce_tree(node, width, count, sum_shard, merge);
  });
  typename internal::SharedTree<Stats, std::remove_reference_t<Merge>>::Nodes nodes;
  for (size_t i = 0; i < cut.size(); ++i)
    nodes.emplace(std::pair(cut[i].first, cut[i].width), std::move(*parts[i]));
  internal::SharedTree tree(rows, count, std::move(nodes), merge);
  const auto height = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count)));
  std::optional<Stats> total = tree.climb(0, height, zero);
  Message message = total ? pack(*total) : Message();
  rows.ranks().broadcast(0, message);
  if (!total) unpack(message, total.emplace(zero));
  return std::move(*total);
}

}  // namespace milieu

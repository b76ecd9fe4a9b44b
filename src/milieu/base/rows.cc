// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/rows.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "milieu/base/assert.h"
#include "milieu/base/summary.h"

namespace milieu {

Rows::Rows(int64_t n, int64_t block_size, Communicator& ranks)
    : ranks_(&ranks), n_(n), block_size_(block_size) {
  std::tie(begin_, end_) = stretch_of(ranks.rank());
}

// The first shard that rank r owns is the first that owner_of_shard gives to it.
std::pair<int64_t, int64_t> Rows::stretch_of(int rank) const {
  const Shards cut = shards();
  const int64_t rows_per_shard = cut.blocks_per_shard * block_size_;
  const auto first_row = [&](int64_t r) {
    const int64_t shard = num_blocks(r * cut.count(), ranks_->size());
    return shard >= cut.count() ? n_ : shard * rows_per_shard;
  };
  return {first_row(rank), first_row(rank + 1)};
}

int Rows::owner_of_shard(int64_t shard) const {
  return static_cast<int>(shard * ranks_->size() / shards().count());
}

int Rows::owner(int64_t row) const {
  MILIEU_ASSERT(row >= 0 && row < n_);
  const Shards cut = shards();
  return owner_of_shard(row / (cut.blocks_per_shard * block_size_));
}

std::pair<int64_t, int64_t> Rows::own_shards() const {
  const int64_t rows_per_shard = shards().blocks_per_shard * block_size_;
  return {num_blocks(begin_, rows_per_shard), num_blocks(end_, rows_per_shard)};
}

void set_sizes(RunSummary& summary, const Rows& rows, std::span<const int> own_labels,
               int num_clusters) {
  set_sizes(summary, own_labels, num_clusters);
  if (!rows.is_shared()) return;
  std::vector<int64_t> total(num_clusters);
  for (const Message& message : rows.ranks().gather(pack(summary.sizes))) {
    std::vector<int64_t> part(num_clusters);
    unpack(message, part);
    for (int j = 0; j < num_clusters; ++j) total[j] += part[j];
  }
  summary.sizes = std::move(total);
  summary.clusters =
      static_cast<int>(std::ranges::count_if(summary.sizes, [](int64_t size) { return size > 0; }));
}

std::vector<internal::TreeNode> internal::cut_stretch(int64_t first, int64_t last, int64_t count,
                                                      int64_t max_width) {
  std::vector<TreeNode> nodes;
  const auto widest = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(max_width)));
  while (first < last) {
    int64_t width = widest;
    while (first % width != 0 || (first + width > last && last < count)) width /= 2;
    nodes.push_back({first, width});
    first += width;
  }
  return nodes;
}

}  // namespace milieu

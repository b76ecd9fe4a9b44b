// SPDX-License-Identifier: Apache-2.0
// Checks, blocks of queries and assembly of results; the searches themselves are in kd_tree.cc and
// brute_force.cc.
#include "milieu/neighbors/neighbors.h"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/neighbors/check_points.h"
#include "milieu/neighbors/engine_internal.h"

namespace milieu {

using internal::Candidates;
using internal::Neighbor;

namespace {

constexpr int64_t kBlocksPerReport = 32;  // between two calls of on_progress
constexpr double kInfinity = std::numeric_limits<double>::infinity();

NeighborSearch choose_search(FloatView points, NeighborSearch search) {
  if (search == NeighborSearch::Auto)
    return points.cols() <= kMaxTreeDimensions ? NeighborSearch::Tree : NeighborSearch::BruteForce;
  require(search != NeighborSearch::Tree || points.cols() <= kMaxTreeDimensions, [&] {
    return fmt::format("points has {}, the tree takes at most {}: search by brute force",
                       counted(points.cols(), "column"), kMaxTreeDimensions);
  });
  return search;
}

void check_queries(FloatView points, FloatView queries, bool exclude_self) {
  require(queries.cols() == points.cols(), [&] {
    return fmt::format("queries has {}, points has {}: they must match",
                       counted(queries.cols(), "column"), points.cols());
  });
  require(!exclude_self || queries.rows() == points.rows(), [&] {
    return fmt::format(
        "queries has {}, points has {}: with exclude_self they must be the same rows",
        counted(queries.rows(), "row"), points.rows());
  });
  if (queries.rows() > 0) check_points(queries, "queries");
}

// What the candidates of every query are limited to.
struct Limits {
  int64_t max_count = 0;
  double max_squared_distance = 0;
};

// One block of queries with the candidates it starts from.
bool search_block(const internal::SearchEngine& engine, FloatView queries, const Block& block,
                  const Limits& limits, bool exclude_self, const Monitor& monitor,
                  std::vector<Candidates>& candidates) {
  candidates.reserve(block.size());
  for (int64_t i = block.begin; i < block.end; ++i)
    candidates.emplace_back(limits.max_count, limits.max_squared_distance, exclude_self ? i : -1);
  return engine.search(queries.rows_between(block.begin, block.end), candidates, monitor);
}

// Searches block after block and hands finished ones to `take(block, candidates)`, which is called
// from several threads. False when the monitor stopped it.
template <class Take>
bool search_blocks(const internal::SearchEngine& engine, FloatView queries, const Limits& limits,
                   const NeighborOptions& options, Monitor& monitor, Take&& take) {
  const int64_t block_size = engine.block_size();
  const int64_t stage_size = kBlocksPerReport * block_size;
  std::atomic<bool> is_complete = true;
  for (int64_t begin = 0; begin < queries.rows() && is_complete; begin += stage_size) {
    monitor.on_progress("neighbors", begin, queries.rows());
    const int64_t count = std::min(stage_size, queries.rows() - begin);
    parallel_for(count, block_size, options.num_threads, [&](const Block& part) {
      const Block block{begin / block_size + part.index, begin + part.begin, begin + part.end};
      std::vector<Candidates> candidates;
      if (search_block(engine, queries, block, limits, options.exclude_self, monitor, candidates))
        take(block, std::span<Candidates>(candidates));
      else
        is_complete = false;
    });
  }
  return is_complete;
}

// Joins the neighbours of all blocks to compressed rows; `counts` holds those of each query.
void assemble(std::vector<std::vector<Neighbor>>& blocks, const std::vector<int64_t>& counts,
              RadiusNeighbors& result) {
  result.offsets.assign(counts.size() + 1, 0);
  for (size_t i = 0; i < counts.size(); ++i) result.offsets[i + 1] = result.offsets[i] + counts[i];
  result.indices.reserve(result.offsets.back());
  result.squared_distances.reserve(result.offsets.back());
  for (std::vector<Neighbor>& block : blocks) {
    for (const Neighbor& neighbor : block) {
      result.indices.push_back(neighbor.index);
      result.squared_distances.push_back(neighbor.squared_distance);
    }
    std::vector<Neighbor>().swap(block);
  }
}

}  // namespace

NeighborIndex::NeighborIndex(FloatView points, NeighborSearch search) : points_(points) {
  check_points(points);
  search_ = choose_search(points, search);
  engine_ = search_ == NeighborSearch::Tree ? internal::make_kd_tree(points)
                                            : internal::make_brute_force(points);
}

NeighborIndex::~NeighborIndex() = default;
NeighborIndex::NeighborIndex(NeighborIndex&&) noexcept = default;
NeighborIndex& NeighborIndex::operator=(NeighborIndex&&) noexcept = default;

NeighborLists NeighborIndex::nearest(FloatView queries, int k, const NeighborOptions& options,
                                     Monitor& monitor) const {
  require(k >= 1, [&] { return fmt::format("k is {}, must be at least 1", k); });
  check_queries(points_, queries, options.exclude_self);
  const int64_t columns = std::min<int64_t>(k, points_.rows() - (options.exclude_self ? 1 : 0));
  NeighborLists result;
  result.indices = Matrix<int>(queries.rows(), columns);
  result.squared_distances = Matrix<double>(queries.rows(), columns);
  if (result.indices.empty()) return result;
  std::fill_n(result.indices.data(), result.indices.size(), -1);
  std::fill_n(result.squared_distances.data(), result.squared_distances.size(), kInfinity);
  result.is_complete =
      search_blocks(*engine_, queries, {columns, kInfinity}, options, monitor,
                    [&](const Block& block, std::span<Candidates> candidates) {
                      for (int64_t i = 0; i < block.size(); ++i) {
                        const std::span<const Neighbor> found = candidates[i].sorted();
                        for (int64_t j = 0; j < columns; ++j) {
                          result.indices(block.begin + i, j) = found[j].index;
                          result.squared_distances(block.begin + i, j) = found[j].squared_distance;
                        }
                      }
                    });
  return result;
}

RadiusNeighbors NeighborIndex::within(FloatView queries, double radius,
                                      const NeighborOptions& options, Monitor& monitor) const {
  require(std::isfinite(radius) && radius >= 0,
          [&] { return fmt::format("radius is {}, must be at least 0 and finite", radius); });
  check_queries(points_, queries, options.exclude_self);
  const int64_t block_size = engine_->block_size();
  std::vector<std::vector<Neighbor>> blocks(num_blocks(queries.rows(), block_size));
  std::vector<int64_t> counts(queries.rows());
  std::atomic<int64_t> num_pairs = 0;
  const auto take = [&](const Block& block, std::span<Candidates> candidates) {
    for (int64_t i = 0; i < block.size(); ++i) {
      const std::span<const Neighbor> found =
          options.is_sorted ? candidates[i].sorted() : candidates[i].found();
      counts[block.begin + i] = static_cast<int64_t>(found.size());
      require((num_pairs += counts[block.begin + i]) <= options.max_num_pairs, [&] {
        return fmt::format(
            "radius is {}: more than {} are that close; use a smaller radius or raise "
            "max_num_pairs",
            radius, counted(options.max_num_pairs, "pair"));
      });
      blocks[block.index].insert(blocks[block.index].end(), found.begin(), found.end());
    }
  };
  RadiusNeighbors result;
  const Limits limits{std::numeric_limits<int64_t>::max(), radius * radius};
  result.is_complete = search_blocks(*engine_, queries, limits, options, monitor, take);
  assemble(blocks, counts, result);
  return result;
}

NeighborLists nearest_neighbors(FloatView points, FloatView queries, int k,
                                const NeighborOptions& options, Monitor& monitor) {
  return NeighborIndex(points, options.search).nearest(queries, k, options, monitor);
}

RadiusNeighbors radius_neighbors(FloatView points, FloatView queries, double radius,
                                 const NeighborOptions& options, Monitor& monitor) {
  return NeighborIndex(points, options.search).within(queries, radius, options, monitor);
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// A team: ranks (communicator.h) that all make the same steps with the same numbers and divide only
// the passes over rows. Small results of a pass are merged along the fixed tree (rows.h) or handed
// to all, so that every rank decides the same and the bits are those of one rank.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/base/parallel.h"
#include "milieu/base/ranks/rows.h"

namespace MILIEU_API milieu {

class Team {
 public:
  // Both must outlive the object.
  Team(Communicator& ranks, Monitor& monitor);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  // One rank, for callers that have none.
  static const Team& alone();

  bool is_shared() const { return ranks_.size() > 1; }
  int rank() const { return ranks_.rank(); }
  // What a fit is given: it stops on all ranks after the same pass, once the monitor of one does.
  Monitor& monitor() const { return *shown_; }
  // The rows of a pass: this rank's are a stretch of whole blocks.
  Rows rows(int64_t n, int64_t block_size) const { return {n, block_size, ranks_}; }

  // milieu::parallel_for for the blocks of own rows; blocks are places among all rows.
  void parallel_for(int64_t n, int64_t block_size, int num_threads,
                    const std::function<void(const Block&)>& body) const;

  // After a pass over `n` rows: `values`, of which this rank has those of its rows, are complete on
  // all. They may end before the rows do.
  template <class T>
  void complete(int64_t n, int64_t block_size, std::span<T> values,
                int64_t values_per_row = 1) const {
    if (!is_shared()) return;
    for (int r = 0; r < ranks_.size(); ++r) {
      const auto [begin, end] = rows(n, block_size).stretch_of(r);
      const auto count = static_cast<int64_t>(values.size());
      const int64_t first = std::min(count, begin * values_per_row);
      const std::span<T> part =
          values.subspan(first, std::min(count, end * values_per_row) - first);
      if (part.empty()) continue;
      Message message = rank() == r ? pack_span<T>(part) : Message();
      ranks_.broadcast(r, message);
      if (rank() != r) unpack_span<T>(message, part);
    }
    agree();
  }

  // milieu::parallel_reduce over the rows of all ranks; blocks are places among all rows.
  template <class Stats, class Accumulate, class Merge>
  Stats parallel_reduce(int64_t n, int64_t block_size, int num_threads, const Stats& zero,
                        Accumulate&& accumulate, Merge&& merge) const {
    const Rows own = rows(n, block_size);
    Stats total = milieu::parallel_reduce(
        own, num_threads, zero,
        [&](const Block& block, Stats& stats) {
          accumulate(Block{block.index, own.begin() + block.begin, own.begin() + block.end}, stats);
        },
        merge);
    agree();
    return total;
  }

  // A sum that is made row after row: every rank adds its rows to what those before it have found,
  // `add(stats)`; all get the result.
  template <class Stats, class Add>
  Stats chain(Stats stats, Add&& add) const {
    if (rank() > 0) unpack(ranks_.receive(rank() - 1), stats);
    add(stats);
    const int last = ranks_.size() - 1;
    if (rank() < last) ranks_.send(rank() + 1, pack(stats));
    if (!is_shared()) return stats;
    Message message = rank() == last ? pack(stats) : Message();
    ranks_.broadcast(last, message);
    unpack(message, stats);
    return stats;
  }

  // Rows go from one cut to another. Of all rows rank r has [from[r], from[r + 1]) and gets
  // [to[r], to[r + 1]); a row is `width` values.
  template <class T>
  std::vector<T> move_rows(std::span<const T> own, int64_t width, std::span<const int64_t> from,
                           std::span<const int64_t> to) const {
    std::vector<T> moved(static_cast<size_t>((to[rank() + 1] - to[rank()]) * width));
    for (int giver = 0; giver < ranks_.size(); ++giver)
      for (int taker = 0; taker < ranks_.size(); ++taker) {
        const int64_t begin = std::max(from[giver], to[taker]);
        const int64_t count = std::min(from[giver + 1], to[taker + 1]) - begin;
        if (count <= 0 || (rank() != giver && rank() != taker)) continue;
        std::span<T> place;
        if (rank() == taker)
          place = std::span(moved).subspan((begin - to[taker]) * width, count * width);
        std::span<const T> part;
        if (rank() == giver) part = own.subspan((begin - from[giver]) * width, count * width);
        if (giver == taker)
          std::ranges::copy(part, place.begin());
        else if (rank() == giver)
          ranks_.send(taker, pack_span<T>(part));
        else
          unpack_span<T>(ranks_.receive(giver), place);
      }
    return moved;
  }
  // The same number on all ranks: where each begins that has `count` rows, and their number.
  std::vector<int64_t> borders_of(int64_t count) const;

  // Whole numbers become the sums of those of all ranks; their order does not matter.
  void add_up(std::span<int32_t> counts) const;

 private:
  void agree() const;  // on whether to stop
  class AgreedMonitor;

  Communicator& ranks_;
  Monitor& given_;
  std::unique_ptr<AgreedMonitor> agreed_;  // where there are several ranks
  Monitor* shown_;
};

// The team of a method's input.
template <class Input>
const Team& team_of(const Input& input) {
  return input.team ? *input.team : Team::alone();
}

}  // namespace milieu

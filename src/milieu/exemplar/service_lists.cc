// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/service_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"

namespace milieu {

namespace {

constexpr int64_t kRowsPerBlock = 32;

// A candidate as one sortable number: the cost's bits in an order-preserving form above the index.
using Key = uint64_t;

Key make_key(float cost, int server) {
  uint32_t bits = std::bit_cast<uint32_t>(cost == 0 ? 0.0f : cost);  // -0 and 0 are the same cost
  bits ^= (bits >> 31) ? 0xffffffffu : 0x80000000u;
  return static_cast<Key>(bits) << 32 | static_cast<uint32_t>(server);
}

float cost_of(Key key) {
  uint32_t bits = static_cast<uint32_t>(key >> 32);
  bits ^= (bits >> 31) ? 0x80000000u : 0xffffffffu;
  return std::bit_cast<float>(bits);
}

int server_of(Key key) { return static_cast<int>(static_cast<uint32_t>(key)); }

// Ascending by cost, then index. Long rows by radix over the cost's 32 bits: the keys come in
// ascending order of index and every pass is stable.
void sort_keys(std::vector<Key>& keys, std::vector<Key>& scratch) {
  if (keys.size() < 512) {
    std::sort(keys.begin(), keys.end());
    return;
  }
  scratch.resize(keys.size());
  for (const int shift : {32, 43, 54}) {
    std::array<uint32_t, 2049> place{};
    for (Key key : keys) ++place[((key >> shift) & 2047) + 1];
    for (int i = 0; i < 2048; ++i) place[i + 1] += place[i];
    for (Key key : keys) scratch[place[(key >> shift) & 2047]++] = key;
    keys.swap(scratch);
  }
}

void check_penalties(std::span<const double> penalty, int64_t n) {
  require(static_cast<int64_t>(penalty.size()) == n, [&] {
    return fmt::format("penalty has {} values, there are {} samples: they must match",
                       penalty.size(), n);
  });
  for (int64_t q = 0; q < n; ++q)
    require(std::isfinite(penalty[q]), [&] {
      return fmt::format("penalty of sample {} is {}, must be a finite number", q, penalty[q]);
    });
}

// Entries of one row that can pay, cheapest first; returns the row's cap.
double paying_candidates(std::span<const float> costs, int64_t p, double penalty, int num_kept,
                         std::vector<Key>& keys, std::vector<Key>& scratch) {
  keys.clear();
  for (int64_t q = 0; q < static_cast<int64_t>(costs.size()); ++q) {
    if (q == p) continue;
    if (std::isnan(costs[q]) || costs[q] == -INFINITY)
      throw InvalidArgument(
          fmt::format("cost of serving row {} by column {} is {}, must be a number or +infinity", p,
                      q, costs[q]));
    if (costs[q] < penalty) keys.push_back(make_key(costs[q], static_cast<int>(q)));
  }
  double cap = penalty;
  if (num_kept > 0 && static_cast<int64_t>(keys.size()) > num_kept) {
    std::nth_element(keys.begin(), keys.begin() + num_kept, keys.end());
    cap = cost_of(keys[num_kept]);
    keys.resize(num_kept);
    std::sort(keys.begin(), keys.end());
  } else {
    sort_keys(keys, scratch);
  }
  return cap;
}

void append_row(ServiceLists& lists, const std::vector<Key>& keys) {
  for (Key key : keys) {
    lists.server.push_back(server_of(key));
    lists.cost.push_back(cost_of(key));
  }
  lists.begin.push_back(lists.num_entries());
}

}  // namespace

bool ServiceLists::is_complete() const {
  for (int64_t p = 0; p < n; ++p)
    if (cap[p] < penalty[p]) return false;
  return true;
}

namespace internal {

void build_columns(ServiceLists& lists) {
  lists.column_begin.assign(lists.n + 1, 0);
  for (int q : lists.server) ++lists.column_begin[q + 1];
  std::partial_sum(lists.column_begin.begin(), lists.column_begin.end(),
                   lists.column_begin.begin());
  lists.client.resize(lists.server.size());
  lists.client_cost.resize(lists.server.size());
  std::vector<int64_t> next(lists.column_begin.begin(), lists.column_begin.end() - 1);
  for (int64_t p = 0; p < lists.n; ++p)
    for (int64_t e = lists.begin[p]; e < lists.begin[p + 1]; ++e) {
      const int64_t place = next[lists.server[e]]++;
      lists.client[place] = static_cast<int>(p);
      lists.client_cost[place] = lists.cost[e];
    }
}

}  // namespace internal

ServiceLists lists_from_rows(int64_t n, std::span<const double> penalty, int num_kept,
                             int num_threads, Monitor& monitor, const FillCosts& fill) {
  check_penalties(penalty, n);
  ServiceLists lists;
  lists.n = n;
  lists.penalty.assign(penalty.begin(), penalty.end());
  lists.cap = lists.penalty;
  lists.begin.reserve(n + 1);
  lists.begin.push_back(0);
  // A few hundred rows at a time, so that what is not yet in the lists stays small.
  constexpr int64_t kRowsPerRound = 16 * kRowsPerBlock;
  for (int64_t first = 0; first < n && !monitor.should_stop(); first += kRowsPerRound) {
    const int64_t count = std::min(kRowsPerRound, n - first);
    std::vector<std::vector<Key>> rows(count);
    parallel_for(count, kRowsPerBlock, num_threads, [&](const Block& block) {
      Matrix<float> costs(block.size(), n);
      fill(Block{block.index, first + block.begin, first + block.end}, costs);
      std::vector<Key> scratch;
      for (int64_t i = block.begin; i < block.end; ++i)
        lists.cap[first + i] = paying_candidates(costs.row_span(i - block.begin), first + i,
                                                 penalty[first + i], num_kept, rows[i], scratch);
    });
    for (const std::vector<Key>& row : rows) append_row(lists, row);
    monitor.on_progress("distances", first + count, n);
  }
  for (int64_t p = static_cast<int64_t>(lists.begin.size()) - 1; p < n; ++p) {
    lists.begin.push_back(lists.num_entries());  // rows that a stop left out are empty, and their
    lists.cap[p] = -std::numeric_limits<double>::infinity();  // caps say that nothing is known
  }
  internal::build_columns(lists);
  return lists;
}

ServiceLists lists_from_matrix(FloatView costs, std::span<const double> penalty, int num_threads,
                               Monitor& monitor) {
  require(costs.rows() == costs.cols(), [&] {
    return fmt::format("the cost matrix is {} x {}, must be square", costs.rows(), costs.cols());
  });
  return lists_from_rows(costs.rows(), penalty, 0, num_threads, monitor,
                         [&](const Block& rows, MatrixView<float> out) {
                           for (int64_t i = 0; i < rows.size(); ++i)
                             std::copy_n(costs.row(rows.begin + i), costs.cols(), out.row(i));
                         });
}

ServiceLists lists_from_entries(int64_t n, std::vector<ServiceEntry> entries,
                                std::span<const double> penalty, std::vector<double> cap) {
  check_penalties(penalty, n);
  for (const ServiceEntry& entry : entries) {
    require(entry.p >= 0 && entry.p < n && entry.q >= 0 && entry.q < n, [&] {
      return fmt::format("list entry ({}, {}) is outside the {} samples", entry.p, entry.q, n);
    });
    require(!std::isnan(entry.cost) && entry.cost != -INFINITY, [&] {
      return fmt::format("cost of serving {} by {} is {}, must be a number", entry.p, entry.q,
                         entry.cost);
    });
  }
  std::sort(entries.begin(), entries.end(), [](const ServiceEntry& a, const ServiceEntry& b) {
    if (a.p != b.p) return a.p < b.p;
    if (a.q != b.q) return a.q < b.q;
    return a.cost < b.cost;
  });
  std::vector<std::vector<Key>> rows(n);
  for (size_t i = 0; i < entries.size(); ++i) {
    const ServiceEntry& entry = entries[i];
    const bool is_repeat = i > 0 && entries[i - 1].p == entry.p && entries[i - 1].q == entry.q;
    if (!is_repeat && entry.p != entry.q && entry.cost < penalty[entry.p])
      rows[entry.p].push_back(make_key(entry.cost, entry.q));
  }
  for (std::vector<Key>& row : rows) std::sort(row.begin(), row.end());
  ServiceLists lists;
  lists.n = n;
  lists.penalty.assign(penalty.begin(), penalty.end());
  lists.begin.push_back(0);
  for (const std::vector<Key>& row : rows) append_row(lists, row);
  lists.cap = std::move(cap);
  if (lists.cap.empty()) lists.cap.assign(n, std::numeric_limits<double>::infinity());
  internal::build_columns(lists);
  return lists;
}

ServiceLists with_penalty(const ServiceLists& lists, std::span<const double> penalty) {
  check_penalties(penalty, lists.n);
  ServiceLists cut;
  cut.n = lists.n;
  cut.penalty.assign(penalty.begin(), penalty.end());
  cut.cap = lists.cap;
  cut.begin.push_back(0);
  for (int64_t p = 0; p < lists.n; ++p) {
    for (int64_t e = lists.begin[p]; e < lists.begin[p + 1] && lists.cost[e] < penalty[p]; ++e) {
      cut.server.push_back(lists.server[e]);
      cut.cost.push_back(lists.cost[e]);
    }
    cut.begin.push_back(cut.num_entries());
  }
  internal::build_columns(cut);
  return cut;
}

int64_t estimate_list_bytes(int64_t n, int64_t num_entries) {
  constexpr int64_t kBytesPerEntry = 2 * (sizeof(int) + sizeof(float));
  constexpr int64_t kBytesPerSample = 2 * sizeof(int64_t) + 2 * sizeof(double);
  return n * kBytesPerSample + num_entries * kBytesPerEntry;
}

}  // namespace milieu

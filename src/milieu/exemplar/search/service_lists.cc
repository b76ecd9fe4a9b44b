// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/search/service_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/exemplar/search/service_keys_internal.h"

namespace milieu {

namespace {

using internal::cost_of;
using internal::index_of;
using internal::make_key;
using internal::ServiceKey;
using internal::sort_keys;

constexpr int64_t kRowsPerBlock = 32;

void check_penalties(std::span<const double> penalty, int64_t n) {
  require(static_cast<int64_t>(penalty.size()) == n, [&] {
    return fmt::format("penalty has {}, there are {}: they must match",
                       counted(penalty.size(), "value"), counted(n, "sample"));
  });
  for (int64_t q = 0; q < n; ++q)
    require(std::isfinite(penalty[q]), [&] {
      return fmt::format("penalty of sample {} is {}, must be a finite number", q, penalty[q]);
    });
}

[[noreturn]] void refuse_cost(std::span<const float> costs, int64_t p) {
  int64_t q = 0;
  while (q == p || costs[q] > -INFINITY) ++q;
  throw InvalidArgument(fmt::format(
      "cost of serving row {} by column {} is {}, must be a number or +infinity", p, q, costs[q]));
}

// Entries of one row that can pay, cheapest first; returns the row's cap.
double paying_candidates(std::span<const float> costs, int64_t p, double penalty, int num_kept,
                         std::vector<ServiceKey>& keys, std::vector<ServiceKey>& scratch) {
  keys.resize(costs.size());
  bool is_bad = false;
  size_t count = 0;
  for (int64_t q = 0; q < static_cast<int64_t>(costs.size()); ++q) {
    is_bad |= q != p && !(costs[q] > -INFINITY);
    keys[count] = make_key(costs[q], static_cast<int>(q));
    count += q != p && costs[q] < penalty;
  }
  if (is_bad) refuse_cost(costs, p);
  keys.resize(count);
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

void append_rows(ServiceLists& lists, const std::vector<std::vector<ServiceKey>>& rows,
                 int num_threads) {
  const int64_t first = static_cast<int64_t>(lists.begin.size()) - 1;
  for (const std::vector<ServiceKey>& row : rows)
    lists.begin.push_back(lists.begin.back() + static_cast<int64_t>(row.size()));
  lists.server.resize(lists.begin.back());
  lists.cost.resize(lists.begin.back());
  parallel_for(static_cast<int64_t>(rows.size()), kRowsPerBlock, num_threads,
               [&](const Block& block) {
                 for (int64_t i = block.begin; i < block.end; ++i) {
                   int64_t e = lists.begin[first + i];
                   for (ServiceKey key : rows[i]) {
                     lists.server[e] = index_of(key);
                     lists.cost[e++] = cost_of(key);
                   }
                 }
               });
}

bool are_equal(std::span<const double> values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

}  // namespace

ServiceLists lists_from_rows(int64_t n, std::span<const double> penalty, int num_kept,
                             int num_threads, Monitor& monitor, const FillCosts& fill,
                             bool is_symmetric) {
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
    std::vector<std::vector<ServiceKey>> rows(count);
    parallel_for(count, kRowsPerBlock, num_threads, [&](const Block& block) {
      if (monitor.should_stop()) return;
      Matrix<float> costs(block.size(), n);
      fill(Block{block.index, first + block.begin, first + block.end}, costs);
      std::vector<ServiceKey> keys, scratch;
      for (int64_t i = block.begin; i < block.end; ++i) {
        lists.cap[first + i] = paying_candidates(costs.row_span(i - block.begin), first + i,
                                                 penalty[first + i], num_kept, keys, scratch);
        rows[i] = keys;
      }
    });
    append_rows(lists, rows, num_threads);
    monitor.on_progress("distances", first + count, n);
  }
  if (monitor.should_stop()) return internal::unknown_lists(n, penalty);
  lists.is_symmetric = is_symmetric && num_kept == 0 && are_equal(penalty);
  if (!lists.is_symmetric && !internal::build_columns(lists, num_threads, monitor))
    return internal::unknown_lists(n, penalty);
  return lists;
}

namespace internal {

ServiceLists unknown_lists(int64_t n, std::span<const double> penalty) {
  ServiceLists lists;
  lists.n = n;
  lists.penalty.assign(penalty.begin(), penalty.end());
  lists.begin.assign(n + 1, 0);
  lists.is_symmetric = true;
  lists.cap.assign(n, -std::numeric_limits<double>::infinity());
  return lists;
}

}  // namespace internal

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
      return fmt::format("list entry ({}, {}) is outside the {}", entry.p, entry.q,
                         counted(n, "sample"));
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
  std::vector<std::vector<ServiceKey>> rows(n);
  for (size_t i = 0; i < entries.size(); ++i) {
    const ServiceEntry& entry = entries[i];
    const bool is_repeat = i > 0 && entries[i - 1].p == entry.p && entries[i - 1].q == entry.q;
    if (!is_repeat && entry.p != entry.q && entry.cost < penalty[entry.p])
      rows[entry.p].push_back(make_key(entry.cost, entry.q));
  }
  for (std::vector<ServiceKey>& row : rows) std::sort(row.begin(), row.end());
  ServiceLists lists;
  lists.n = n;
  lists.penalty.assign(penalty.begin(), penalty.end());
  lists.begin.push_back(0);
  append_rows(lists, rows, 1);
  lists.cap = std::move(cap);
  if (lists.cap.empty()) lists.cap.assign(n, std::numeric_limits<double>::infinity());
  internal::build_columns(lists, 1, silent_monitor());
  return lists;
}

}  // namespace milieu

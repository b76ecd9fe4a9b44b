// SPDX-License-Identifier: Apache-2.0
// What is made from ready lists: their columns, and lists with fewer entries.
#include <algorithm>
#include <array>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/exemplar/search/service_keys_internal.h"

namespace milieu {

namespace internal {

namespace {

constexpr int64_t kColumnsPerBlock = 64;

}  // namespace

// Long rows by radix over the cost's 32 bits: every pass is stable.
void sort_keys(std::vector<ServiceKey>& keys, std::vector<ServiceKey>& scratch) {
  if (keys.size() < 512) {
    std::sort(keys.begin(), keys.end());
    return;
  }
  scratch.resize(keys.size());
  for (const int shift : {32, 43, 54}) {
    std::array<uint32_t, 2049> place{};
    for (ServiceKey key : keys) ++place[((key >> shift) & 2047) + 1];
    for (int i = 0; i < 2048; ++i) place[i + 1] += place[i];
    for (ServiceKey key : keys) scratch[place[(key >> shift) & 2047]++] = key;
    keys.swap(scratch);
  }
}

bool build_columns(ServiceLists& lists, int num_threads, const Monitor& monitor) {
  lists.column_begin.assign(lists.n + 1, 0);
  for (int q : lists.server) ++lists.column_begin[q + 1];
  std::partial_sum(lists.column_begin.begin(), lists.column_begin.end(),
                   lists.column_begin.begin());
  lists.client.resize(lists.server.size());
  lists.client_cost.resize(lists.server.size());
  std::vector<int64_t> next(lists.column_begin.begin(), lists.column_begin.end() - 1);
  for (int64_t p = 0; p < lists.n; ++p) {
    if (p % 256 == 0 && monitor.should_stop()) return false;
    for (int64_t e = lists.begin[p]; e < lists.begin[p + 1]; ++e) {
      const int64_t place = next[lists.server[e]]++;
      lists.client[place] = static_cast<int>(p);
      lists.client_cost[place] = lists.cost[e];
    }
  }
  parallel_for(lists.n, kColumnsPerBlock, num_threads, [&](const Block& block) {
    if (monitor.should_stop()) return;
    std::vector<ServiceKey> keys, scratch;
    for (int64_t q = block.begin; q < block.end; ++q) {
      const int64_t begin = lists.column_begin[q], end = lists.column_begin[q + 1];
      keys.clear();
      for (int64_t e = begin; e < end; ++e)
        keys.push_back(make_key(lists.client_cost[e], lists.client[e]));
      sort_keys(keys, scratch);
      for (int64_t e = begin; e < end; ++e) {
        lists.client[e] = index_of(keys[e - begin]);
        lists.client_cost[e] = cost_of(keys[e - begin]);
      }
    }
  });
  return !monitor.should_stop();
}

}  // namespace internal

bool ServiceLists::is_complete() const {
  for (int64_t p = 0; p < n; ++p)
    if (cap[p] < penalty[p]) return false;
  return true;
}

ServiceLists without_candidates(const ServiceLists& lists, const std::vector<char>& is_closed,
                                const Monitor& monitor) {
  ServiceLists rest;
  rest.n = lists.n;
  rest.penalty = lists.penalty;
  rest.cap = lists.cap;
  rest.begin.push_back(0);
  rest.column_begin.push_back(0);
  for (int64_t p = 0; p < lists.n; ++p) {
    if (p % 256 == 0 && monitor.should_stop()) return {};
    const ServiceRun row = lists.row(p);
    for (int64_t i = 0; i < row.size; ++i)
      if (!is_closed[row.index[i]]) {
        rest.server.push_back(row.index[i]);
        rest.cost.push_back(row.cost[i]);
      }
    rest.begin.push_back(rest.num_entries());
    const ServiceRun column = lists.column(p);
    const int64_t kept = is_closed[p] ? 0 : column.size;
    rest.client.insert(rest.client.end(), column.index, column.index + kept);
    rest.client_cost.insert(rest.client_cost.end(), column.cost, column.cost + kept);
    rest.column_begin.push_back(static_cast<int64_t>(rest.client.size()));
  }
  return rest;
}

int64_t estimate_list_bytes(int64_t n, int64_t num_entries, bool is_symmetric) {
  const int64_t bytes_per_entry = (is_symmetric ? 1 : 2) * (sizeof(int) + sizeof(float));
  constexpr int64_t kBytesPerSample = 2 * sizeof(int64_t) + 2 * sizeof(double);
  return n * kBytesPerSample + num_entries * bytes_per_entry;
}

}  // namespace milieu

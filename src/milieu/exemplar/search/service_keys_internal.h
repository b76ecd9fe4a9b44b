// SPDX-License-Identifier: Apache-2.0
// Candidates as sortable numbers, and the lists made of them.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "milieu/exemplar/search/service_lists.h"

namespace milieu::internal {

// The cost's bits in an order-preserving form above the index.
using ServiceKey = uint64_t;

inline ServiceKey make_key(float cost, int index) {
  uint32_t bits = std::bit_cast<uint32_t>(cost == 0 ? 0.0f : cost);  // -0 and 0 are the same cost
  bits ^= (bits >> 31) ? 0xffffffffu : 0x80000000u;
  return static_cast<ServiceKey>(bits) << 32 | static_cast<uint32_t>(index);
}

inline float cost_of(ServiceKey key) {
  uint32_t bits = static_cast<uint32_t>(key >> 32);
  bits ^= (bits >> 31) ? 0x80000000u : 0xffffffffu;
  return std::bit_cast<float>(bits);
}

inline int index_of(ServiceKey key) { return static_cast<int>(static_cast<uint32_t>(key)); }

// Ascending by cost, then index; the keys must come in ascending order of index.
void sort_keys(std::vector<ServiceKey>& keys, std::vector<ServiceKey>& scratch);

// Lists of a search that was stopped: empty rows whose caps say that nothing is known.
ServiceLists unknown_lists(int64_t n, std::span<const double> penalty);

// Fills the columns from the rows; false when the monitor stopped it.
bool build_columns(ServiceLists& lists, int num_threads, const Monitor& monitor);

}  // namespace milieu::internal

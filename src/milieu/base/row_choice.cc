// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/row_choice.h"

#include <algorithm>
#include <numeric>

namespace milieu {

RowChoice::RowChoice(const Rows& rows, const std::function<bool(int64_t)>& is_chosen)
    : rows_(rows), is_chosen_(is_chosen) {
  int64_t own = 0;
  for (int64_t i = 0; i < rows.own_size(); ++i) own += is_chosen(i) ? 1 : 0;
  for (const Message& message : rows.ranks().gather(pack(own)))
    unpack(message, counts_.emplace_back());
}

int64_t RowChoice::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
}

std::vector<int64_t> RowChoice::rows_at(const std::vector<int64_t>& places) const {
  int64_t place =
      std::accumulate(counts_.begin(), counts_.begin() + rows_.ranks().rank(), int64_t{0});
  auto next = std::ranges::lower_bound(places, place);
  std::vector<int64_t> own;
  for (int64_t i = 0; i < rows_.own_size() && next != places.end(); ++i) {
    if (!is_chosen_(i)) continue;
    for (; next != places.end() && *next == place; ++next) own.push_back(rows_.begin() + i);
    ++place;
  }
  std::vector<int64_t> all;
  for (const Message& message : rows_.ranks().gather(pack(own))) {
    std::vector<int64_t> part;
    unpack(message, part);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace milieu

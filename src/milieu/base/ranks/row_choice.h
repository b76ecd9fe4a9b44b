// SPDX-License-Identifier: Apache-2.0
// Rows of all ranks that have a property, counted and found by their place among each other: for
// draws that must not depend on how many ranks there are.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/ranks/rows.h"

namespace MILIEU_API milieu {

class RowChoice {
 public:
  // `is_chosen` is asked about own rows, counted from 0. Both must outlive the object.
  RowChoice(const Rows& rows, const std::function<bool(int64_t)>& is_chosen);

  int64_t count() const;  // of all ranks
  // Which rows of all ranks stand at these places, ascending in [0, count()), among the chosen.
  std::vector<int64_t> rows_at(const std::vector<int64_t>& places) const;

 private:
  const Rows& rows_;
  const std::function<bool(int64_t)>& is_chosen_;
  std::vector<int64_t> counts_;  // by rank
};

}  // namespace milieu

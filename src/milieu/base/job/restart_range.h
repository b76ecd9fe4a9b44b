// SPDX-License-Identifier: Apache-2.0
// Which of its restarts a fit runs. Restart r draws from a stream of its own (Random::child), so
// that a part of the restarts, run elsewhere, gives what it would have given among all of them. The
// best restart of all is then run again by itself: it gives the result of the whole fit.
#pragma once

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

struct RestartRange {
  int first = 0;
  int count = -1;  // -1: all that the options ask for, from `first` on

  int end(int num_restarts) const { return count < 0 ? num_restarts : first + count; }
};

enum class RestartChoice { LowestObjective, HighestObjective };

// Whether `objective` of a later restart takes the place of `best`: ties go to the earlier one.
inline bool is_better(RestartChoice choice, double objective, double best) {
  return choice == RestartChoice::LowestObjective ? objective < best : objective > best;
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Fits shared by the ranks of a team, as threads.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/base/ranks/communicator.h"
#include "milieu/base/ranks/team.h"

namespace milieu {

// Calls `act` on every rank of each number of ranks; what it finds wrong is reported with the case.
inline void run_as_teams(const std::string& name, const std::vector<int>& sizes,
                         const std::function<void(const Team& team)>& act) {
  for (const int size : sizes)
    run_as_ranks(size, [&](Communicator& ranks) {
      SCOPED_TRACE(name + ", rank " + std::to_string(ranks.rank()) + " of " + std::to_string(size));
      Monitor monitor;
      const Team team(ranks, monitor);
      act(team);
    });
}

}  // namespace milieu

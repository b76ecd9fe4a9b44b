// SPDX-License-Identifier: Apache-2.0
// Which restart becomes the result. Without whitening the one of lowest J. With it, J is compared
// between splits of similar balance only (it prefers even ones), and the best of each balance and
// floor, with those that are as good, are compared by how clearly their parts stand apart.
#pragma once

#include "milieu/dcp/dcp_finish_internal.h"
#include "milieu/dcp/dcp_search_internal.h"

namespace milieu::internal {

// A split that came to its end, and what it is judged by.
struct Choice {
  Solution solution;
  int restart = 0;
  bool is_whole = false;  // no part below min_part or min_share
  double separation = 0;
};

bool is_better(const Choice& one, const Choice& other, bool is_whitened);

// How the restarts of one problem are reported: those of the floors before it come first.
struct RestartCount {
  const Stopwatch& watch;
  int before = 0;
  int total = 0;
};

// Finishes the candidates among `found` by exact alternation and chooses one. `found` is not empty.
Choice choose_restart(const DcpProblem& problem, const ExactRows& rows, const DcpInput& input,
                      const DcpOptions& options, const std::vector<Found>& found,
                      const Constraints& constraints, const RestartCount& count, Monitor& monitor);

// What is left of a search that was stopped.
Choice take_unfinished(const DcpProblem& problem, const std::vector<Found>& found);

}  // namespace milieu::internal

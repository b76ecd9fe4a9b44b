// SPDX-License-Identifier: Apache-2.0
// The outcome of a fit, and how it becomes a CacResult.
#pragma once

#include <string>
#include <vector>

#include "milieu/cac/cac_run_internal.h"

namespace milieu::internal {

struct CacReport {
  CacRun run;      // that was kept
  CacState start;  // it began with; empty without context
  double lambda = 0;
  double tau = 0;  // 0: lambda was given
  int restart = 0;
  int num_restarts = 1;
  std::vector<double> objectives;  // of all starts
  std::vector<std::string> warnings;
  StabilityCurve tau_curve;
  NumberSweep numbers;
  CacEvidence evidence;  // of phrases by shares
};

CacResult make_result(const CacProblem& problem, const CacOptions& options, CacReport report,
                      const Monitor& monitor);

// Stopped before anything was complete: every label is -1.
CacResult make_stopped_result(const CacProblem& problem, const CacOptions& options,
                              const Monitor& monitor);

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "milieu/base/assert.h"
#include "milieu/base/counted.h"

namespace milieu {

const char* to_string(Termination termination) {
  switch (termination) {
    case Termination::Converged:
      return "Converged";
    case Termination::IterationLimit:
      return "IterationLimit";
    case Termination::TimeLimit:
      return "TimeLimit";
    case Termination::Cancelled:
      return "Cancelled";
    case Termination::NumericalIssue:
      return "NumericalIssue";
  }
  return "Unknown";
}

Termination termination_from(StopReason reason) {
  MILIEU_ASSERT(reason != StopReason::None);
  return reason == StopReason::Cancelled ? Termination::Cancelled : Termination::TimeLimit;
}

namespace {

std::string describe_stop(const RunSummary& s) {
  const std::string rounds = counted(s.iterations, "iteration");
  switch (s.termination) {
    case Termination::Converged:
      return "converged after " + rounds;
    case Termination::IterationLimit:
      return "stopped at the limit of " + rounds;
    case Termination::TimeLimit:
      return "stopped by the time limit after " + rounds;
    case Termination::Cancelled:
      return "cancelled after " + rounds;
    case Termination::NumericalIssue:
      return "stopped by a numerical issue after " + rounds;
  }
  return {};
}

}  // namespace

std::string RunSummary::brief() const {
  return fmt::format("{}: {} of {} x {}, objective {:.8g}, {} ({:.2f} s)", method,
                     counted(clusters, "cluster"), n, d, objective, describe_stop(*this), seconds);
}

std::string RunSummary::full() const {
  std::string text = brief();
  if (num_restarts > 1) text += fmt::format("\nrestart {} of {} kept", restart + 1, num_restarts);
  text += fmt::format("\nsizes: {}", fmt::join(sizes, " "));
  if (!message.empty()) text += "\n" + message;
  for (const std::string& warning : warnings) text += "\nwarning: " + warning;
  return text;
}

void set_sizes(RunSummary& summary, std::span<const int> labels, int num_clusters) {
  summary.sizes.assign(num_clusters, 0);
  for (int label : labels) {
    MILIEU_ASSERT(label >= -1 && label < num_clusters);
    if (label >= 0) ++summary.sizes[label];
  }
  summary.clusters = static_cast<int>(std::count_if(summary.sizes.begin(), summary.sizes.end(),
                                                    [](int64_t size) { return size > 0; }));
}

const char* version() { return MILIEU_VERSION; }

}  // namespace milieu

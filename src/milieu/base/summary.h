// SPDX-License-Identifier: Apache-2.0
// RunSummary: what every method reports about its run, in one type. store/ turns it into JSON,
// render/ into a page, the command line into a few readable lines.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"

namespace MILIEU_API milieu {

// Why the mathematics stopped. Never an exception.
enum class Termination { Converged, IterationLimit, TimeLimit, Cancelled, NumericalIssue };

// "Converged", "IterationLimit", ... : the names used in JSON.
const char* to_string(Termination termination);

// The termination that follows from a monitor's stop; `reason` must not be None.
Termination termination_from(StopReason reason);

// One method-specific entry of the summary ("gain", "bandwidth", ...), in the order added.
using SummaryValue = std::variant<bool, int64_t, double, std::string, std::vector<double>,
                                  std::vector<int64_t>, std::vector<std::string>>;

struct RunSummary {
  std::string method;   // "kmeans"
  std::string version;  // Milieu's version
  uint64_t seed = 0;
  Termination termination = Termination::Converged;
  std::string message;        // one sentence for people: why it stopped, what to do about it
  double objective = 0;       // of the result that was kept
  std::vector<double> trace;  // objective after each iteration of the chosen restart
  int iterations = 0;         // of the chosen restart
  int restart = 0;            // zero-based index of the chosen restart
  int num_restarts = 1;       // restarts that were run
  double seconds = 0;
  int64_t n = 0;               // samples
  int64_t d = 0;               // dimensions
  int clusters = 0;            // clusters in use (non-empty)
  std::vector<int64_t> sizes;  // samples per cluster; empty clusters that are kept show as 0
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string, SummaryValue>> extra;

  // One line: "kmeans: 10 clusters, objective 1234.5, converged after 12 iterations (0.31 s)".
  std::string brief() const;
  // brief() plus sizes, restarts and warnings, several lines.
  std::string full() const;
};

// Sets `sizes` and `clusters` from labels in [-1, num_clusters); -1 is not counted.
void set_sizes(RunSummary& summary, std::span<const int> labels, int num_clusters);

// Milieu's version, from the file VERSION.
const char* version();

}  // namespace milieu

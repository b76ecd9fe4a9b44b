// SPDX-License-Identifier: Apache-2.0
// Results as people read them: what was read, what came out, how large the clusters are, how well
// they agree with the truth.
#pragma once

#include <string>

#include "cli/console.h"
#include "milieu/base/summary.h"
#include "milieu/data/dataset.h"
#include "milieu/metrics/metrics.h"

namespace milieu::cli {

// "read X.npy: 11,000 samples x 256, 10 classes".
std::string dataset_text(const Dataset& data, const std::string& feature = {});

// The summary's brief line, method-specific values and the sizes as a list of bars (the largest
// ones when there are many clusters).
std::string summary_text(const RunSummary& summary, const Console& console);

// All figures, two columns: name and value.
std::string metrics_table(const Metrics& metrics);

// The four figures most people ask for, on one line.
std::string metrics_line(const Metrics& metrics);

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// Options, summaries and metrics as JSON text (keys in a fixed order, numbers that read back to the
// same bits), and options read back. The JSON library itself stays inside store/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/fields.h"
#include "milieu/base/summary.h"
#include "milieu/metrics/metrics.h"

namespace milieu {

// The summary as DESIGN, section 5, names it: method, version, seed, termination, objective,
// iterations, seconds, n, d, clusters, sizes, warnings, ..., `extra`, and `metrics` when given.
// NaN and infinities become null.
std::string summary_to_json(const RunSummary& summary, const Metrics* metrics = nullptr);

std::string metrics_to_json(const Metrics& metrics);

// {"num_clusters": 8, ...} in the order of declaration.
std::string options_to_json(const std::vector<Field>& fields);

// Sets the fields named in `text`; an unknown name, a wrong type or a value out of range is an
// InvalidArgument that says which and where (`source` names the file).
void options_from_json(std::string_view text, const std::vector<Field>& fields,
                       const std::string& source);

}  // namespace milieu

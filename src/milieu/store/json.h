// SPDX-License-Identifier: Apache-2.0
// Options, summaries and metrics as JSON text (keys in a fixed order, numbers that read back to the
// same bits), and options read back. The JSON library itself stays inside store/.
//
// The text has one key per line, lists on one line, no newline at the end. Text that is not UTF-8
// (a file name in a warning) gets U+FFFD in the wrong places.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/summary.h"
#include "milieu/metrics/metrics.h"
#include "milieu/naming/part_names.h"

namespace MILIEU_API milieu {

// Figures that a method gives beside those of its labels: an object in the JSON, or a list of them.
struct NamedMetrics {
  std::string name;  // "word_metrics"
  std::vector<Metrics> metrics;
};

// Keys in this order: method, version, seed, termination, message, objective, iterations, restart,
// num_restarts, seconds, n, d, clusters, sizes, warnings, trace, the entries of `extra`, an object
// `metrics` when given, those of `more`, and a list `part_names` when there are any. NaN and
// infinities become null.
std::string summary_to_json(const RunSummary& summary, const Metrics* metrics = nullptr,
                            std::span<const NamedMetrics> more = {},
                            std::span<const PartNames> part_names = {});

// accuracy, error, balanced_error, nmi, nmi_max, nmi_sqrt, ari, f, f_pairwise, precision_pairwise,
// recall_pairwise, f_bcubed, precision_bcubed, recall_bcubed, purity, num_clusters, num_classes, n.
std::string metrics_to_json(const Metrics& metrics);

// {"num_clusters": 8, ...} in the order of declaration. A real number that is not finite is written
// as text ("inf"), so that it reads back.
std::string options_to_json(const std::vector<Field>& fields);

// Empty for strict JSON; else the rest of a sentence that begins with the text's name: "is not JSON
// (line 1, column 5)", "has the key 'centers' twice", "is nested deeper than 16".
std::string json_problem(std::string_view text);

// Sets the fields named in `text` and checks their ranges. A key is a field's name or, so that the
// files of earlier versions are read, one of its aliases (with underscores; not a single letter) or
// former names. Text that is not a JSON object, an unknown name, a wrong type or a value out of
// range is an InvalidArgument that says which and where (`source` names the file); fields before
// the wrong one may be set by then.
void options_from_json(std::string_view text, const std::vector<Field>& fields,
                       const std::string& source);

}  // namespace milieu

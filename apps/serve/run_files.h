// SPDX-License-Identifier: Apache-2.0
// What a run has on disk: its record, its summary, its tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "serve/runs.h"

namespace milieu::serve {

// explore.json, and back from RUNS/ID: nothing when the folder holds no record. A run that had not
// ended when its server did has failed, unless its run folder is there.
std::string record_to_text(const RunRecord& record);
std::optional<RunRecord> read_record(const std::string& folder);

// summary.json of the run folder; null when there is none.
Json read_summary(const RunRecord& record);
RunState state_of_summary(const Json& summary);

// The contexts of a ranking that still runs, from its state file.
std::vector<RankedContext> unfinished_contexts(const RunRecord& record);

}  // namespace milieu::serve

// SPDX-License-Identifier: Apache-2.0
// What a run has on disk: its record, its summary, its tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "serve/runs.h"

namespace milieu::serve {

// A whole file; nothing when it cannot be read.
std::optional<std::string> read_text_file(const std::string& path);

// explore.json, and back from RUNS/ID: nothing when the folder holds no record. A run that had not
// ended when its server did has failed, unless its run folder is there.
std::string record_to_text(const RunRecord& record);
std::optional<RunRecord> read_record(const std::string& folder);

// summary.json of the run folder; null when there is none.
Json read_summary(const RunRecord& record);
RunState state_of_summary(const Json& summary);

// Rows of a .csv without its header, cells unquoted.
std::vector<std::vector<std::string>> read_csv_rows(const std::string& path);
std::vector<std::vector<std::string>> csv_rows(std::string_view text);

// "milieu dcp X.npy --select 6,0": the arguments as a shell reads them back.
std::string shell_text(const std::vector<std::string>& arguments);

}  // namespace milieu::serve

// SPDX-License-Identifier: Apache-2.0
// A run on disk: options.json, summary.json, labels.csv, columns.safetensors, model.safetensors,
// the method's own files and report.html. It appears whole or not at all.
#pragma once

#include <string>

#include "milieu/run/outcome.h"

namespace milieu {

// Refuses whatever is in the way as RunFolder does (store/run_folder.h).
void write_run(const RunOutcome& outcome, const std::string& folder, bool force = false);

}  // namespace milieu

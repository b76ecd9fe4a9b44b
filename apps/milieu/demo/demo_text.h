// SPDX-License-Identifier: Apache-2.0
// What `milieu demo` says: the stories for people, the same as JSON, what to try next.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"
#include "demo/demo_run.h"

namespace milieu::cli {

// One table per story: a row per run, its accuracy by each truth, seconds; the best are marked.
std::string demo_table_text(const DemoStories& made, const std::vector<DemoRun>& runs,
                            const Console& console);

// {"version", "seed", "out", "garments", "runs": [{"story", "method", "data", "accuracy", ...}]}.
std::string demo_json(const DemoStories& made, const std::vector<DemoRun>& runs,
                      const DemoPlace& place);

// "97.7 %", with " best" behind the highest of its column, or "" where the run has no such figure.
std::string accuracy_cell(const DemoRun& run, const std::vector<DemoRun>& runs,
                          const std::string& truth);

// What the images are, and what to install for real ones.
std::string images_note(const DemoStories& made);

// The command to run next after a story, ready to be copied.
std::string next_command(const DemoStory& story, const std::string& out);

// The command that opens the explorer on the demo's bars.
std::string explore_command_text(const std::string& out);

// The README.txt of the demo's folder: what its files are.
std::string demo_readme(const DemoStories& made, const std::string& out);

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// What `milieu demo` says: the table for people, the same as JSON, what to try next.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"
#include "demo/demo_run.h"

namespace milieu::cli {

// One table per family: method, data, clusters, accuracy, NMI, ARI, seconds; the best in bold.
std::string demo_table_text(const std::vector<DemoFamily>& families,
                            const std::vector<DemoRun>& runs, const Console& console);

// {"version", "seed", "out", "runs": [{"method", "data", "clusters", "accuracy", ...}]}.
std::string demo_json(const std::vector<DemoRun>& runs, const std::string& out, uint64_t seed);

struct NextCommand {
  std::string command;
  std::string meaning;
};

// Commands that work on the demo's folder, ready to be copied.
std::vector<NextCommand> next_commands(const std::string& out);

// The command that opens the explorer on the demo's shapes.
std::string explore_command_text(const std::string& out);

// The README.txt of the demo's folder: what its files are.
std::string demo_readme(const std::vector<DemoFamily>& families, const std::string& out);

}  // namespace milieu::cli

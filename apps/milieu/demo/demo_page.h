// SPDX-License-Identifier: Apache-2.0
// The overview page of `milieu demo`: what Milieu is, the data, the table of the runs with links to
// their own reports, the best clusters as pictures, maps, and what to try next.
#pragma once

#include <string>
#include <vector>

#include "demo/demo_run.h"
#include "demo/demo_text.h"

namespace milieu::cli {

// A whole HTML page; links are relative to the demo's folder. `seconds` is the time of all runs.
std::string render_demo_page(const std::vector<DemoFamily>& families,
                             const std::vector<DemoRun>& runs, const std::vector<NextCommand>& next,
                             double seconds);

}  // namespace milieu::cli

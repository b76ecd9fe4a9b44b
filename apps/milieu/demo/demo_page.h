// SPDX-License-Identifier: Apache-2.0
// The overview page of `milieu demo`: five stories, each with its images and its context, its
// figures side by side with links to the runs' own reports, and what to run next.
#pragma once

#include <string>
#include <vector>

#include "demo/demo_run.h"

namespace milieu::cli {

// A whole HTML page; links are relative to the demo's folder. `seconds` is the time of all runs.
std::string render_demo_page(const DemoStories& made, const std::vector<DemoRun>& runs,
                             const DemoPlace& place, double seconds);

}  // namespace milieu::cli

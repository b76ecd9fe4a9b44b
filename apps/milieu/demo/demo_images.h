// SPDX-License-Identifier: Apache-2.0
// The images of a story: what it starts from, and what runs made of it.
#pragma once

#include <span>
#include <string>

#include "demo/demo_run.h"

namespace milieu::cli {

// Card bodies. A sheet of a set, by class where it has one; the parts of a run.
std::string draw_sheet(const DemoStory& story, const DemoSheet& sheet);
std::string draw_parts(const DemoRun& run);

// The points of a map by its truth; the same points by whether a run answers the first question of
// its story right.
std::string draw_map(const DemoStory& story, const DemoMap& map);
std::string draw_hits(const DemoRun& run);

// Labels under the numbers of the classes that they were matched to, so that a part has the colour
// of its class; parts without one take the numbers that are left.
std::vector<int> match_to_classes(std::span<const int> labels, const Metrics& metrics);

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// Figures 6 and 7 of [Yu13] as pages in the run folder.
#pragma once

#include <string>
#include <vector>

#include "reproduce/reproduce.h"

namespace milieu::cli {

struct Series {
  std::string name;
  std::vector<double> x, y;
};

// Several series against one another: one card of a page.
struct SeriesPlot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Series> series;
};

// Writes NAME.html with one card per plot.
void draw_series(const ReproduceRun& run, const std::string& name, const std::string& title,
                 const std::vector<SeriesPlot>& plots);

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// The static report: one HTML file with everything inside (no scripts from elsewhere, no fonts, no
// network), light and dark, printable.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "milieu/base/fields.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"
#include "milieu/metrics/metrics.h"

namespace milieu {

struct ReportInput {
  const RunSummary* summary = nullptr;
  std::vector<Field> options;              // shown as a table; the object must outlive the call
  FloatView points;                        // for the map (PCA to two axes); may be empty
  std::span<const int> labels;             // of the points
  const Metrics* metrics = nullptr;        // may be null
  std::string command;                     // the exact command line; may be empty
  std::string source;                      // what was clustered, for the heading
  // Grey images as rows of points: image_width * image_height == points.cols(); 0: not images.
  // With images the report shows contact sheets: the most typical samples of each cluster.
  int image_width = 0;
  int image_height = 0;
};

// The page as text.
std::string render_report(const ReportInput& input);

}  // namespace milieu

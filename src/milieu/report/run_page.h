// SPDX-License-Identifier: Apache-2.0
// report.html of a run folder: the explorer's page with the run inside (apps/serve/report_page.h),
// around the static report. A program built without the explorer writes the static report alone.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "method.h"
#include "milieu/data/dataset.h"
#include "picture_input.h"
#include "rows.h"

namespace milieu::cli {

struct ExplorerReport {
  const Dataset* data = nullptr;     // what was labelled
  std::span<const int> labels;       // one a row of it
  const Labels* truth = nullptr;     // classes; may be empty
  const ModelFile* model = nullptr;  // may be null
  std::string root, feature;         // of pictures; empty for numbers
  ImageSize image_size;              // of rows that are images
  std::string method, command;
  std::string summary_json;
  std::vector<std::pair<std::string, std::string>> files;  // of the run folder: name, content
};

std::string with_explorer(std::string static_page, const ExplorerReport& report);

}  // namespace milieu::cli

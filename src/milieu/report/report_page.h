// SPDX-License-Identifier: Apache-2.0
// report.html: the explorer's page with one run's data inside, needing no server. Without scripts
// it shows the static report (render/report.h). Bounded: of many rows and pictures some are left
// out, evenly, and the data say how many there were.
#pragma once

#include <string>

#include "serve/explorer.h"

namespace milieu::serve {

struct ReportLimits {
  int64_t max_rows = 20'000;
  int64_t max_numbers = 20'000'000;  // rows times columns
  int64_t max_pictures = 480;        // read from files
  int64_t max_images = 2000;         // rows that are images themselves
  int thumb_side = 72;
  int64_t max_word_pictures = 24;  // with the words of cac over them
  int word_picture_side = 384;
  size_t max_file_bytes = size_t{6} << 20;  // of the method's own pictures together
};

// Files of a run folder: name and content.
using ReportFiles = std::vector<std::pair<std::string, std::string>>;

// What is put into the page (docs/explorer_api.md, "report.html").
Json report_data(const RunRecord& run, const RunResult& result, const Collection& collection,
                 const ReportLimits& limits = {});

// Puts the PNG and SVG files among `files` into `data`, as far as the limit allows.
void add_report_files(const ReportFiles& files, Json& data, const ReportLimits& limits = {});

// The page around `data`, with `static_page` (a whole HTML file; may be empty) for readers without
// scripts.
std::string report_page(const std::string& static_page, const Json& data);

// report.html of a run of the explorer.
std::string run_report_page(const RunRecord& run, const RunResult& result,
                            const Collection& collection);

// At most `limit` of 0 ... n - 1, evenly spaced.
std::vector<int64_t> thinned(int64_t n, int64_t limit);

}  // namespace milieu::serve

// SPDX-License-Identifier: Apache-2.0
// The JSON that the explorer's page reads (docs/explorer_api.md). For this tree only: report.html
// and the explorer's server say the same.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/report/collection.h"
#include "milieu/report/run_view.h"

namespace milieu {
namespace MILIEU_API internal {

using Json = nlohmann::ordered_json;

// A run as the page knows it, apart from its result.
struct PageRun {
  std::string id;
  std::string name;
  std::string method;
  std::string state = "done";  // queued, running, done, failed, cancelled
  std::string created;         // 2026-11-17T06:30:00Z
  std::string command;         // as a shell takes it
  std::string error;
  int64_t n = 0;
  bool ranks_contexts = false;
  std::vector<std::string> part_names;
  Json request;
  Json progress;  // Progress, the latest
  Json summary;   // of summary.json; null before the end
};

Json brief_json(const PageRun& run);                 // RunBrief
Json collection_json(const Collection& collection);  // Collection
Json parts_json(const std::vector<PartInfo>& parts, const std::vector<std::string>& part_names);
Json contexts_json(const std::vector<RankedContext>& contexts);
// Rows of the collection that are exemplars of their parts, by the summary of a run; there may be
// none.
std::vector<int32_t> exemplar_rows(const Json& summary, const ViewColumns& columns);
// RunDetail without its files.
Json detail_json(const PageRun& run, const RunView& view);
// {width, height, places: [x, y, ...], words, phrases} of one image; null when it has none.
Json image_words_json(const WordView& words, const Collection& collection, int64_t row);
// "word_map.png" as people read it: "word map".
std::string file_title(const std::string& name);

// Files of a run folder: name and content.
using PageFiles = std::vector<std::pair<std::string, std::string>>;

struct PageLimits {
  int64_t max_rows = 20'000;
  int64_t max_numbers = 20'000'000;  // rows times columns
  int64_t max_image_files = 1000;    // thumbnails that are read from files
  int64_t max_row_images = 2000;     // rows that are images themselves
  int thumb_side = 72;
  int64_t max_word_images = 24;  // with the words of cac over them
  int word_image_side = 384;
  size_t max_file_bytes = size_t{6} << 20;  // of the method's own pictures together
};

// What is put into report.html (docs/explorer_api.md, "report.html").
Json page_data(const PageRun& run, const RunView& view, const Collection& collection,
               const PageLimits& limits = {});

// Puts the PNG and SVG files among `files` into `data`, as far as the limit allows.
void add_page_files(const PageFiles& files, Json& data, const PageLimits& limits = {});

// The page around `data`, with `static_page` (a whole HTML file; may be empty) for readers without
// scripts. A program built without the page gives the static page alone.
std::string page_around(const std::string& static_page, const Json& data);

// report.html again for a run whose folder has one: `kept` is that file's text, `files` the
// pictures of the folder.
std::string page_again(const std::string& kept, const PageRun& run, const RunView& view,
                       const Collection& collection, const PageFiles& files);

// At most `limit` of 0 ... n - 1, evenly spaced.
std::vector<int64_t> thinned(int64_t n, int64_t limit);

}  // namespace internal
}  // namespace milieu

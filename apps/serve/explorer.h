// SPDX-License-Identifier: Apache-2.0
// The explorer: the calls of docs/explorer_api.md over one collection and its runs.
#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "milieu/report/collection.h"
#include "milieu/report/export/edits.h"
#include "milieu/report/export/export_images.h"
#include "milieu/report/page_json.h"
#include "milieu/report/thumbnails.h"
#include "serve/message.h"
#include "serve/run_request.h"
#include "serve/run_result.h"
#include "serve/runs.h"
#include "serve/space/spaces.h"

namespace milieu::serve {

struct ExplorerOptions {
  SpacesOptions spaces;
  RunsOptions runs;
  std::vector<MethodInfo> methods;
  size_t max_streams = 64;  // progress streams at once
};

class Explorer {
 public:
  explicit Explorer(ExplorerOptions options);

  Reply handle(const Request& request);
  void stop();  // ends streams and runs

 private:
  Reply handle_api(const Request& request, const std::vector<std::string>& words);
  Reply handle_collection(const Request& request, const std::vector<std::string>& words);
  Reply handle_runs(const Request& request, const std::vector<std::string>& words);
  Reply handle_run(const Request& request, const std::vector<std::string>& words);
  Reply handle_export(const Request& request, const RunRecord& run, const std::string& what);
  Reply classes() const;
  Reply neighbor_map(const Request& request);
  Reply features(const Request& request);
  Reply names(const Request& request) const;
  Reply thumb(const Request& request, const std::string& row) const;
  Reply original(const std::string& row) const;
  Reply like(const Request& request, const std::string& row);
  Reply change_run(const Request& request, const RunRecord& run);
  RunRecord rename_run(const Json& body, const RunRecord& run);
  void change_edits(const Json& page, const RunRecord& run);
  // The result after the edits in its run folder.
  RunView view_as_left(const RunRecord& run, const RunView& result, Edits& edits) const;
  Reply detail(const RunRecord& run);
  Reply column(const RunRecord& run, const std::string& name);
  Reply file(const RunRecord& run, const std::string& name) const;
  Reply words(const RunRecord& run, const std::string& row);
  Reply near(const Request& request, const RunRecord& run, const std::string& row);
  Reply events(const std::string& id);
  Reply compare(const Request& request);

  ExplorerOptions options_;
  Spaces spaces_;
  const Collection& collection_;  // by its first feature
  Thumbnails thumbnails_;
  Runs runs_;
  ResultCache results_;
  std::atomic<size_t> num_streams_ = 0;
  std::mutex edits_mutex_;  // one change of a run at a time
};

// Files of the run folder that a browser may see: {name, title}.
Json files_of(const RunRecord& run);

// The image of a row in full size.
Thumbnail original_image(const Collection& collection, const Thumbnails& thumbnails, int64_t row);
// {rows, distances} of the rows nearest to a row.
Json rows_like(const Collection& collection, int64_t row, int64_t count);
// The same of some rows only.
Json rows_like(const Collection& collection, int64_t row, std::span<const int32_t> candidates,
               int64_t count);
// Bytes and time of change (seconds since 1970) of every row's file, one after the other; -1 where
// there is no such file.
std::vector<double> file_facts(const Collection& collection);

// {rows_in_both, table, ari, nmi, only_a, only_b}.
Json compare_runs(const ViewColumns& a, const ViewColumns& b);

// report.html of a run of the explorer.
std::string report_again(const RunRecord& run, const RunView& result, const Collection& collection);

// Images by part in the new folder `to`, or below the run's folder without one; {path, count}.
Json export_folders(const RunRecord& run, const ExportTable& table, ImageExport how,
                    const std::string& to);

}  // namespace milieu::serve

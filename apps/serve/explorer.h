// SPDX-License-Identifier: Apache-2.0
// The explorer: the calls of docs/explorer_api.md over one collection and its runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "milieu/report/collection.h"
#include "milieu/report/page_json.h"
#include "milieu/report/thumbnails.h"
#include "serve/message.h"
#include "serve/run_request.h"
#include "serve/run_result.h"
#include "serve/runs.h"

namespace milieu::serve {

struct ExplorerOptions {
  CollectionOptions collection;
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
  Reply names(const Request& request) const;
  Reply thumb(const Request& request, const std::string& row) const;
  Reply change_run(const Request& request, const RunRecord& run);
  Reply detail(const RunRecord& run);
  Reply column(const RunRecord& run, const std::string& name);
  Reply file(const RunRecord& run, const std::string& name) const;
  Reply words(const RunRecord& run, const std::string& row);
  Reply events(const std::string& id);
  Reply compare(const Request& request);

  ExplorerOptions options_;
  Collection collection_;
  Thumbnails thumbnails_;
  Runs runs_;
  ResultCache results_;
  std::atomic<size_t> num_streams_ = 0;
};

// Files of the run folder that a browser may see: {name, title}.
Json files_of(const RunRecord& run);

// {rows_in_both, table, ari, nmi, only_a, only_b}.
Json compare_runs(const ViewColumns& a, const ViewColumns& b);

// labels.csv (sample, label, part, margin, row, class) and the same as JSON.
std::string labels_csv(const RunRecord& run, const RunView& result, const Collection& collection);
Json labels_json(const RunRecord& run, const RunView& result, const Collection& collection);

// report.html of a run of the explorer.
std::string report_again(const RunRecord& run, const RunView& result, const Collection& collection);

// Images by part below the run's folder, copied or linked; {path, count}.
Json export_folders(const RunRecord& run, const RunView& result, const Collection& collection,
                    bool links);

}  // namespace milieu::serve

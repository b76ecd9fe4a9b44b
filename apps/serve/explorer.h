// SPDX-License-Identifier: Apache-2.0
// The explorer: the calls of docs/explorer_api.md over one collection and its runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "serve/collection.h"
#include "serve/message.h"
#include "serve/run_request.h"
#include "serve/run_result.h"
#include "serve/runs.h"
#include "serve/thumbnails.h"

namespace milieu::serve {

struct ExplorerOptions {
  CollectionOptions collection;
  RunsOptions runs;
  std::vector<MethodInfo> methods;
  // INPUT and the flags that say how it is read, for every run: {"photos", "--feature", "gist"}.
  std::vector<std::string> input_arguments;
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
  Json collection_json() const;

  ExplorerOptions options_;
  Collection collection_;
  Thumbnails thumbnails_;
  Runs runs_;
  ResultCache results_;
  std::atomic<size_t> num_streams_ = 0;
};

// Collection as the page knows it (docs/explorer_api.md).
Json collection_to_json(const Collection& collection);

// RunDetail without its files: also for report.html.
Json detail_to_json(const RunRecord& run, const RunResult& result);

// What exists for one method only: ranked contexts, exemplars, the curve of penalties, weights,
// phrases with their groups or pictures.
Json extras_of(const RunRecord& run, const RunResult& result);

// "word_map.png" as people read it: "word map".
std::string file_title(const std::string& name);

// Files of the run folder that a browser may see: {name, title}.
Json files_of(const RunRecord& run);

// {rows_in_both, table, ari, nmi, only_a, only_b}.
Json compare_runs(const RunColumns& a, const RunColumns& b);

// labels.csv (row, sample, label, part, margin, class) and the same as JSON.
std::string labels_csv(const RunRecord& run, const RunResult& result, const Collection& collection);
Json labels_json(const RunRecord& run, const RunResult& result, const Collection& collection);

// Pictures by part below the run's folder, copied or linked; {path, count}.
Json export_folders(const RunRecord& run, const RunResult& result, const Collection& collection,
                    bool links);

}  // namespace milieu::serve

// SPDX-License-Identifier: Apache-2.0
// A run on disk: options.json, summary.json, labels.csv, columns.safetensors, model.safetensors,
// the method's own files and report.html. It appears whole or not at all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/run/outcome.h"

namespace MILIEU_API milieu {

// The content of a run folder. What is empty or null has no file.
struct RunFiles {
  std::string options_json;
  std::string summary_json;
  std::span<const int> labels = {};
  const Dataset* samples = nullptr;  // what is labelled; null: there are no labels
  const ModelFile* model = nullptr;
  const std::vector<Column>* columns = nullptr;
  std::span<const ResultFile> files = {};
  std::span<const VocabularyFile> vocabulary = {};
  std::string report_html = {};
};

// The one place that fills a run folder: the methods of the table, and the commands that are not
// one (icc classify, icc compare, exemplar learn). Refuses whatever is in the way as RunFolder does
// (store/run_folder.h).
void write_run_files(const RunFiles& files, const std::string& folder, bool force);

// The run with its report.
void write_run(const RunOutcome& outcome, const std::string& folder, bool force = false);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// What a run gives: labels, model, summary, and named columns.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/summary.h"
#include "milieu/data/dataset.h"
#include "milieu/input/input.h"
#include "milieu/metrics/metrics.h"
#include "milieu/naming/part_names.h"
#include "milieu/store/columns.h"
#include "milieu/store/json.h"
#include "milieu/store/model_file.h"

namespace MILIEU_API milieu {

// A file that a method adds to its run folder: a picture, a table.
struct ResultFile {
  std::string name;  // a plain file name, such as words.png
  std::string content;
};

struct RunOutcome {
  std::vector<int> labels;  // one per sample
  RunSummary summary;
  std::optional<ModelFile> model;
  std::vector<Column> columns;        // docs/format.md lists their names
  std::vector<ResultFile> files;      // beside those that every run has
  std::vector<NamedMetrics> metrics;  // figures beside those of the labels
  std::string text;                   // a table for people, shown after the summary

  // What was labelled. Methods fill it where it is not the rows of INPUT: images, groups.
  std::optional<Dataset> units;
  std::string units_root;  // their names are images below this folder; "": they are not

  // What naming the parts needs beside the labels; methods fill it where it applies.
  std::vector<int> row_labels;     // of rows or images, where `labels` are of groups or keypoints
  std::vector<int> part_classes;   // of every part, where parts are pieces of classes
  std::optional<Dataset> context;  // what the set was split against

  // The rest is filled in by the run.
  Input input;
  Labels truth;  // of what was labelled; empty: unknown
  std::optional<Metrics> truth_metrics;
  // Whether people should be shown them: they say nothing about one class, nor about sub-classes
  // compared with the classes that they are parts of. The JSON has them anyway.
  bool shows_truth = true;
  std::vector<PartNames> part_names;  // of every part, with --describe; else empty
  ImageSize image_size;               // of rows that are images themselves
  std::string options_json;           // options.json: enough to run it again
  std::string command;                // the shortest command line with the same result
  std::string new_input;              // the placeholder for new samples in a hint: "NEW.npy"
  std::vector<Field> options;         // of the method, without the number of threads
  std::shared_ptr<void> keep_alive;   // what `options` refers to

  const Dataset& samples() const { return units ? *units : input.data; }
  // The folder that the samples' images are in; "": they have none.
  const std::string& image_root() const { return units ? units_root : input.images.root; }
  // What --json prints and summary.json holds.
  std::string summary_json() const;
};

// From a library result {labels, model, summary}; columns are made of what it has beside them.
template <class Result>
RunOutcome to_outcome(Result result) {
  RunOutcome out;
  out.model = to_model_file(result.model);
  if constexpr (requires { result.margins; })
    if (!result.margins.empty()) out.columns.push_back(real_column("margins", result.margins));
  if constexpr (requires { result.probabilities.view(); })
    out.columns.push_back(real_column("probabilities", result.probabilities.view()));
  if constexpr (requires { result.proportions.view(); })
    out.columns.push_back(real_column("probabilities", result.proportions.view()));
  out.labels = std::move(result.labels);
  out.summary = std::move(result.summary);
  return out;
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// What the shared runner (cluster_command.h) needs to know about a clustering method. A method's
// command is a small class derived from MethodWith that calls the library's fit function.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/data/dataset.h"
#include "milieu/store/json.h"
#include "milieu/store/model_file.h"
#include "rows.h"

namespace milieu::cli {

// A file that a method adds to its run folder: a picture, a table.
struct ResultFile {
  std::string name;  // a plain file name, such as words.png
  std::string content;
};

struct MethodResult {
  std::vector<int> labels;  // one a kept row, or one a row of `units`
  RunSummary summary;
  std::optional<ModelFile> model;  // its options are filled in by the runner
  std::vector<ResultFile> files;
  std::optional<Dataset> units;  // what was labelled, where it is not the rows of INPUT
  std::string units_root;        // their names are pictures below this folder; "": they are not
  std::vector<NamedMetrics> metrics;  // figures beside those of the labels
  std::vector<float> margins;         // how sure each label is, for the report; may be empty
  std::string cards;                  // the method's own cards of the report, as markup
  std::string text;                   // shown to people after the summary: a table
};

// A named set of option values: what --preset NAME puts in place of the defaults.
struct Preset {
  std::string name;  // "paper"
  std::function<void()> apply;
};

// What the flags say about INPUT to a method that reads it itself; it may fill in what it took.
struct OwnInput {
  std::string feature, max_side, codebook;  // "": not given
  std::vector<std::string> warnings;
  Monitor* monitor = nullptr;
};

class Method {
 public:
  virtual ~Method() = default;
  // The option fields of the method; they refer to this object.
  virtual std::vector<Field> option_fields() = 0;
  // Files the method reads beside INPUT: text fields whose values are paths, "" when not given.
  virtual std::vector<Field> file_fields() = 0;
  // The presets it offers; flags and options files win over them.
  virtual std::vector<Preset> presets() { return {}; }
  // False when one of those files takes the place of INPUT; asked once the options are read.
  virtual bool takes_input() const { return true; }
  // What is clustered, where the method reads it itself; nothing: the runner reads INPUT.
  virtual std::optional<Dataset> load_own_input(const std::string& path, const LoadOptions& options,
                                                OwnInput& own) {
    (void)path, (void)options, (void)own;
    return std::nullopt;
  }
  // The run folder whose features, words and columns INPUT must have; "": none.
  virtual std::string model_of_input() const { return ""; }
  // True for methods of counts: words of pictures are then counted, unless norm is given.
  virtual bool wants_counts() const { return false; }
  // True when --feature goes before that: pictures then become rows as for other methods.
  virtual bool takes_features() const { return false; }
  // Reads the files beside it.
  virtual void load_files(RowFiles& rows) { (void)rows; }
  // The true classes of what will be labelled; `path` is --truth or empty.
  virtual Labels load_truth(RowFiles& rows, const std::string& path) {
    return path.empty() ? rows.data().labels : rows.labels(path);
  }
  virtual MethodResult fit(const Dataset& data, Monitor& monitor) = 0;
  // Called once the result is where the user wants it.
  virtual void on_saved() {}
  // What stands for new samples in "next: milieu predict RUN ...".
  virtual std::string new_input_text() const { return "NEW.npy"; }
};

// The files of a method that has none but INPUT.
struct NoFiles {};
template <class Visitor>
void visit_fields(NoFiles&, Visitor&&) {}

template <class Options, class Files = NoFiles>
class MethodWith : public Method {
 public:
  std::vector<Field> option_fields() override { return fields_of(options_); }
  std::vector<Field> file_fields() override { return fields_of(files_); }

 protected:
  Options options_;
  Files files_;
};

// A method of counts of words.
template <class Options>
class CountsMethodWith : public MethodWith<Options> {
 public:
  bool wants_counts() const override { return true; }
};

// From a library result {labels, model, summary}.
template <class Result>
MethodResult to_method_result(Result result) {
  MethodResult out;
  out.model = to_model_file(result.model);
  out.labels = std::move(result.labels);
  out.summary = std::move(result.summary);
  return out;
}

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// `milieu reproduce METHOD`: the experiments of a method's paper on the real data sets, beside the
// figures that the paper prints. One file per experiment, METHOD_EXPERIMENT.cc, and a line in
// the table of reproduce.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.h"
#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "reproduce/memory.h"

namespace milieu::cli {

struct ReproduceOptions {
  std::string data;      // folder of the data sets; empty: found automatically
  std::string models;    // folder of the networks; empty: found automatically
  std::string out;       // where tables and pictures go; empty: nowhere
  std::string resume;    // file that keeps finished steps; empty: none
  int num_runs = 0;      // repetitions with other seeds; 0: the experiment's default
  int num_restarts = 0;  // of each run; 0: the experiment's default
  bool full = false;     // every size in the paper; the default is some of them
  std::string sets;      // deep, dlgmm held-out: only these sets, separated by commas; empty: all
  uint64_t seed = 1;
  int num_threads = 0;
};

template <class Visitor>
void visit_fields(ReproduceOptions& o, Visitor&& v) {
  v("num_runs", o.num_runs, at_least(0).alias("runs"),
    "repetitions with other seeds; 0 means the experiment's default");
  v("num_restarts", o.num_restarts, at_least(0).alias("restarts"),
    "restarts of each run; 0 means the experiment's default");
  v("full", o.full, anything(), "dlgmm: all ten codebook sizes instead of 100, 300 and 1000");
  v("sets", o.sets, anything(),
    "deep, dlgmm held-out: only these sets, separated by commas; empty means all");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

// A table as it is printed and written: cells are text, with rounded numbers.
struct ResultTable {
  std::string name;   // of the file: "table1" becomes table1.csv
  std::string title;  // what is shown, and with which figures of the paper it is compared
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;  // sentences below it
};

// Thrown by ReproduceRun::data_file if a set is missing: the experiment is skipped with this
// message.
class MissingData : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What an experiment is given, and where its results go.
class ReproduceRun {
 public:
  // `folder` holds the data sets, `models` the networks; both may be empty.
  ReproduceRun(const ReproduceOptions& options, std::string folder, std::string models,
               Console& console, Monitor& monitor);

  const ReproduceOptions& options() const { return options_; }
  // The number given, or the experiment's default.
  int num_runs(int own) const { return options_.num_runs > 0 ? options_.num_runs : own; }
  int num_restarts(int own) const {
    return options_.num_restarts > 0 ? options_.num_restarts : own;
  }
  // Passed to fits; an experiment whose monitor is stopped returns at once, without a table.
  Monitor& monitor() const { return monitor_; }
  bool is_stopped() const { return monitor_.should_stop(); }

  // An experiment begins: what pieces depend on is the data named from now on.
  void begin();
  // Without --resume, pieces of this experiment are kept in --out as NAME.progress. Without --out
  // nothing is kept.
  void keep_progress(const std::string& name);
  // The path of a file or folder of the data sets: data_file("usps_roweis/X.npy"). Named before the
  // pieces that depend on it, never inside one.
  std::string data_file(const std::string& name) const;
  // The same for a network: model_file("mobilenet.onnx").
  std::string model_file(const std::string& name) const;
  // Prints the table, and writes NAME.csv into --out.
  void show(const ResultTable& table) const;
  // Writes a picture or a page into --out; nothing without --out.
  void write(const std::string& name, std::string_view content) const;
  // Figures of one step: those that were kept under `name`, which must name all that they depend on
  // except the options and the data, or those of `compute`. Not kept if stopped meanwhile.
  std::vector<double> piece(const std::string& name,
                            const std::function<std::vector<double>()>& compute) const;
  // A sentence on stderr: what is being computed now.
  void say(const std::string& text) const { console_.note(text); }

 private:
  std::string data_print() const;
  std::string named_file(const std::string& folder, const std::string& name,
                         const std::string& what) const;

  const ReproduceOptions& options_;
  std::string folder_, models_;
  Console& console_;
  Monitor& monitor_;
  std::string key_;  // of the options
  std::unique_ptr<ReproduceMemory> memory_;
  mutable std::mutex mutex_;                            // of what follows
  mutable std::map<std::string, std::string> data_;     // named in this experiment, and their paths
  mutable std::map<std::string, std::string> printed_;  // path to fingerprint
};

struct Reproduction {
  std::string_view method;   // "dcp"
  std::string_view name;     // "digits": unique within the method
  std::string_view summary;  // one line, for the list
  void (*run)(ReproduceRun&);
};

// All experiments, in the order in which they run.
const std::vector<Reproduction>& reproductions();

// The folder of the data sets: `given`, else $MILIEU_DATA, else shared/data beside a folder that
// holds the current one or the program. Empty if there is none.
std::string find_data_folder(const std::string& given);
// The same for the networks: `given`, else $MILIEU_MODELS, else shared/models.
std::string find_models_folder(const std::string& given);

// "12.3", and with a half width of the 95 % interval "12.3 +- 0.4".
std::string percent_text(double share);
std::string interval_text(const std::vector<double>& shares);
double mean_of(const std::vector<double>& values);

}  // namespace milieu::cli

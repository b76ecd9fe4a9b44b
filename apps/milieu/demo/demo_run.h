// SPDX-License-Identifier: Apache-2.0
// The runs of `milieu demo`: a table of jobs, and what becomes of one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "demo/demo_sets.h"
#include "milieu/metrics/metrics.h"
#include "milieu/run/run.h"

namespace milieu::cli {

struct DemoJob {
  std::string method;                                           // a name of the table of methods
  std::string set;                                              // which data (demo_sets.h)
  std::vector<std::pair<std::string, std::string>> options;     // field, value; the rest is default
  std::vector<std::pair<std::string, std::string>> files = {};  // further input, set that it names
};

// In the order in which they run and are shown.
const std::vector<DemoJob>& demo_jobs();

// One job on its data: fitted, then written as an ordinary run folder.
class DemoRun {
 public:
  // `out` is where the demo's folder will be: the run's command names the files in it. The
  // families must outlive the run.
  DemoRun(const DemoJob& job, const std::vector<DemoFamily>& families, const std::string& out,
          uint64_t seed, int num_threads);

  // `workplace` is where the files of the sets are by now.
  void fit(const std::string& workplace, Monitor& monitor);
  // The run folder `folder`, which must not exist yet.
  void write(const std::string& folder) const;

  const std::string& method() const { return job_.method; }
  const DemoFamily& family() const { return *place_.family; }
  const DemoSet& set() const { return *place_.set; }
  // "kmeans-shapes": its folder's name.
  std::string name() const { return job_.method + "-" + job_.set; }
  // The command that repeats it.
  const std::string& command() const { return command_; }

  // After fit:
  const RunSummary& summary() const { return outcome_.summary; }
  const std::vector<int>& labels() const { return outcome_.labels; }
  const Metrics& metrics() const { return metrics_; }

 private:
  void name_files(const std::string& folder);

  DemoJob job_;
  DemoSetPlace place_;
  std::string out_;
  std::unique_ptr<Run> run_;
  std::string command_;
  RunOutcome outcome_;
  Metrics metrics_;
};

// The run of `family` with the highest accuracy, the first one of equals; null when there is none.
const DemoRun* best_demo_run(const std::vector<DemoRun>& runs, const DemoFamily& family);

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// The runs of `milieu demo`: what becomes of a job of a story.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "demo/demo_story.h"
#include "milieu/metrics/metrics.h"
#include "milieu/run/run.h"

namespace milieu::cli {

// Where a job runs: the demo's folder as it will be called, and the place of its files by now.
struct DemoPlace {
  std::string out;
  std::string workplace;
  uint64_t seed = 1;
  int num_threads = 0;
};

// One job on its data: fitted, then written as an ordinary run folder.
class DemoRun {
 public:
  // The story must outlive the run.
  DemoRun(const DemoJob& job, const DemoStory& story, const DemoPlace& place);

  // Learns the distance first where the job has one; a distance that the workplace has is taken.
  void fit(Monitor& monitor);
  // The run folder below `folder`, which must not exist yet.
  void write() const;

  const DemoJob& job() const { return *job_; }
  const DemoStory& story() const { return *story_; }
  const DemoSet& set() const { return story_->set(job_->set); }
  // "dcp-diagonal": its folder's name.
  std::string name() const { return story_->name + "-" + job_->name; }
  // The command that repeats it.
  const std::string& command() const { return command_; }

  // After fit:
  const RunSummary& summary() const { return outcome_.summary; }
  const std::vector<int>& labels() const { return outcome_.labels; }
  std::span<const int> words() const;  // of every sample; cac only
  // By the truth of that name; null where the run does not answer it.
  const Metrics* metrics(const std::string& truth) const;

 private:
  void name_files(const std::string& folder);
  void name_model(const std::string& folder);

  const DemoJob* job_;
  const DemoStory* story_;
  DemoPlace place_;
  std::unique_ptr<Run> run_;
  std::string command_;
  RunOutcome outcome_;
  std::vector<std::pair<std::string, Metrics>> metrics_;
};

// The highest accuracy of the runs of a story by a truth; 0 when there is none.
double best_accuracy(const std::vector<DemoRun>& runs, const DemoStory& story,
                     const std::string& truth);

}  // namespace milieu::cli

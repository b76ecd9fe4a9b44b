// SPDX-License-Identifier: Apache-2.0
// The runs of one collection: those on disk and those to come. A run is a child process of this
// program, one at a time; its folder holds
//
//   explore.json           name, request, names of the parts, command line
//   rows.txt, ...          what the command line refers to
//   run/                   the run folder that the child writes: whole or not at all
//
// so a killed server loses nothing that was finished, and the history is what is on disk.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "serve/run_request.h"

namespace milieu::serve {

enum class RunState { Queued, Running, Done, Failed, Cancelled };
std::string state_word(RunState state);
bool is_over(RunState state);

// The current state of one run. Copied out of the table under its lock.
struct RunRecord {
  std::string id;
  std::string folder;  // RUNS/ID
  std::string name;
  std::string method;
  std::string created;  // 2026-11-17T06:30:00Z
  std::string command;  // as a shell takes it
  RunState state = RunState::Queued;
  std::string error;
  int64_t n = 0;
  bool ranks_contexts = false;
  std::vector<std::string> arguments;  // of the child
  std::vector<std::string> part_names;
  Json request;
  Json progress;         // Progress, the latest
  Json summary;          // of summary.json; null before the end
  uint64_t changes = 0;  // counted for those who wait

  std::string run_folder() const { return folder + "/run"; }
  internal::PageRun page() const;  // as the page knows it
  Json brief() const { return internal::brief_json(page()); }
};

struct RunsOptions {
  std::string folder;   // RUNS; made when it is missing
  std::string program;  // path of the executable that runs a method
  size_t max_waiting = 32;
  double kill_seconds = 10;  // a cancelled run that does not end by then is killed
};

class Runs {
 public:
  // Reads the history. Throws IoError when the folder cannot be made.
  explicit Runs(RunsOptions options);
  ~Runs();  // cancels what runs and waits for it
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  // Puts a run into the queue. Throws RequestError 429 when it is full, IoError when the disk is.
  RunRecord add(const RunPlan& plan);
  // Throws RequestError 404.
  RunRecord find(const std::string& id) const;
  std::vector<RunRecord> list() const;  // newest first
  void cancel(const std::string& id);   // nothing happens when it is over
  void remove(const std::string& id);   // RequestError 409 while it runs
  RunRecord rename(const std::string& id, const std::optional<std::string>& name,
                   const std::optional<std::vector<std::string>>& part_names);
  // Waits until the run has changed since `seen`, it is removed, or the time is over; nothing when
  // it was removed.
  std::optional<RunRecord> wait_for_change(const std::string& id, uint64_t seen,
                                           double seconds) const;
  void stop();  // ends waiting and running; also wakes wait_for_change

 private:
  void read_history();
  void work();
  void run_one(const std::string& id);
  void take_line(const std::string& id, const std::string& line);
  void finish(const std::string& id, int exit_code);
  void write_record(const RunRecord& record) const;
  template <class Change>
  void change(const std::string& id, const Change& how);

  RunsOptions options_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<std::string, RunRecord> runs_;  // by id, which begins with the time
  std::deque<std::string> queue_;
  std::string running_;
  bool is_cancelled_ = false;  // the running one
  bool is_stopping_ = false;
  std::thread worker_;
};

}  // namespace milieu::serve

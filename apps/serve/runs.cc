// SPDX-License-Identifier: Apache-2.0
#include "serve/runs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/monitor.h"
#include "milieu/base/shell.h"
#include "milieu/data/atomic_file.h"
#include "serve/access.h"
#include "serve/child_process.h"
#include "serve/message.h"
#include "serve/run_edits.h"
#include "serve/run_files.h"

namespace milieu::serve {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMaxError = 2000;  // bytes that are kept of a child's last output

std::string make_id() {
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:%Y%m%d-%H%M%S}-{}", fmt::gmtime(now), make_token().substr(0, 8));
}

// "milieu: X.npy ..." without the program's name.
std::string plain_message(std::string line) {
  if (line.starts_with("milieu: ")) line.erase(0, 8);
  return line;
}

}  // namespace

Runs::Runs(RunsOptions options) : options_(std::move(options)) {
  std::error_code error;
  fs::create_directories(options_.folder, error);
  if (error)
    throw IoError(fmt::format("{} cannot be made: {}; choose another folder with --runs",
                              options_.folder, error.message()));
  read_history();
  worker_ = std::thread([this] { work(); });
}

Runs::~Runs() {
  stop();
  worker_.join();
}

void Runs::stop() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  changed_.notify_all();
}

void Runs::read_history() {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(options_.folder, error))
    if (std::optional<RunRecord> record = read_record(entry.path().string()))
      runs_.emplace(record->id, std::move(*record));
}

void Runs::write_record(const RunRecord& record) const {
  write_file_atomically(record.folder + "/explore.json", record_to_text(record));
}

RunRecord Runs::add(const RunPlan& plan) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= options_.max_waiting)
      throw RequestError{429, fmt::format("{} waiting already: cancel one, or wait",
                                          counted(queue_.size(), "run is", "runs are"))};
  }
  RunRecord record;
  record.id = make_id();
  record.folder = options_.folder + "/" + record.id;
  record.method = plan.method;
  record.name = plan.name;
  record.request = plan.request;
  record.part_names = plan.part_names;
  record.ranks_contexts = plan.ranks_contexts;
  record.n = static_cast<int64_t>(plan.rows.size());
  record.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  record.arguments = plan.arguments;
  for (std::string& argument : record.arguments)
    if (argument.starts_with("{}/")) argument.replace(0, 2, record.folder);
  record.command = "milieu " + shell_line(record.arguments) + " --out again";
  record.arguments.insert(record.arguments.end(), {"--out", record.run_folder()});
  try {
    fs::create_directories(record.folder);
    for (const auto& [name, content] : plan.files)
      write_file_atomically(record.folder + "/" + name, content);
    write_record(record);
  } catch (const std::exception& problem) {
    std::error_code error;
    fs::remove_all(record.folder, error);
    throw IoError(fmt::format("the run cannot be kept: {}", problem.what()));
  }
  const std::lock_guard lock(mutex_);
  runs_.emplace(record.id, record);
  queue_.push_back(record.id);
  changed_.notify_all();
  return record;
}

RunRecord Runs::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(id);
  if (found == runs_.end()) throw RequestError{404, fmt::format("there is no run '{}'", id)};
  return found->second;
}

std::vector<RunRecord> Runs::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<RunRecord> records;
  for (auto it = runs_.rbegin(); it != runs_.rend(); ++it) records.push_back(it->second);
  std::stable_sort(records.begin(), records.end(),
                   [](const RunRecord& a, const RunRecord& b) { return a.created > b.created; });
  return records;
}

template <class Change>
void Runs::change(const std::string& id, const Change& how) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(id);
  if (found == runs_.end()) return;
  how(found->second);
  ++found->second.changes;
  changed_.notify_all();
}

void Runs::cancel(const std::string& id) {
  find(id);
  bool was_waiting = false;
  {
    const std::lock_guard lock(mutex_);
    if (running_ == id) is_cancelled_ = true;  // the worker sees it
    was_waiting = std::erase(queue_, id) > 0;
  }
  if (!was_waiting) return;
  change(id, [](RunRecord& run) {
    run.state = RunState::Cancelled;
    run.error = "cancelled before it started";
  });
  write_record(find(id));
}

void Runs::remove(const std::string& id) {
  const RunRecord record = find(id);
  {
    const std::lock_guard lock(mutex_);
    if (running_ == id || std::count(queue_.begin(), queue_.end(), id) > 0)
      throw RequestError{409, "the run has not finished: cancel it first"};
    runs_.erase(id);
    changed_.notify_all();
  }
  std::error_code error;
  fs::remove_all(record.folder, error);
}

RunRecord Runs::rename(const std::string& id, const std::optional<std::string>& name,
                       const std::optional<std::vector<std::string>>& part_names) {
  find(id);
  change(id, [&](RunRecord& run) {
    if (name) run.name = *name;
    if (part_names) run.part_names = *part_names;
  });
  const RunRecord record = find(id);
  write_record(record);
  return record;
}

std::optional<RunRecord> Runs::wait_for_change(const std::string& id, uint64_t seen,
                                               double seconds) const {
  std::unique_lock lock(mutex_);
  const auto has_changed = [&] {
    const auto found = runs_.find(id);
    return is_stopping_ || found == runs_.end() || found->second.changes > seen;
  };
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), has_changed);
  const auto found = runs_.find(id);
  if (found == runs_.end() || is_stopping_) return std::nullopt;
  return found->second;
}

void Runs::work() {
  while (true) {
    std::string id;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_stopping_ || !queue_.empty(); });
      if (is_stopping_) return;
      id = queue_.front();
      queue_.pop_front();
      running_ = id;
      is_cancelled_ = false;
    }
    run_one(id);
    const std::lock_guard lock(mutex_);
    running_.clear();
    changed_.notify_all();
  }
}

void Runs::run_one(const std::string& id) {
  change(id, [](RunRecord& run) { run.state = RunState::Running; });
  std::vector<std::string> arguments = find(id).arguments;
  arguments.insert(arguments.begin(), options_.program);
  arguments.insert(arguments.end(), {"--quiet", "--progress-json"});
  int exit_code = 1;
  try {
    ChildProcess child(arguments);
    std::optional<Stopwatch> since_cancel;
    exit_code = child.wait([&](const std::string& line) {
      if (!line.empty()) take_line(id, line);
      bool wants_end = false;
      {
        const std::lock_guard lock(mutex_);
        wants_end = is_cancelled_ || is_stopping_;
      }
      if (!wants_end) return;
      if (!since_cancel) {
        child.send_signal(SIGINT);
        since_cancel.emplace();
      } else if (since_cancel->seconds() > options_.kill_seconds) {
        child.send_signal(SIGKILL);
      }
    });
  } catch (const std::exception& problem) {
    change(id, [&](RunRecord& run) { run.error = problem.what(); });
  }
  finish(id, exit_code);
}

// A line of JSON is progress, any other a message of the child.
void Runs::take_line(const std::string& id, const std::string& line) {
  Json json = Json::parse(line, nullptr, false);
  change(id, [&](RunRecord& run) {
    if (json.is_object())
      run.progress = std::move(json);
    else if (!line.starts_with("warning:") && !line.starts_with("see `") &&
             run.error.size() < kMaxError)
      run.error += (run.error.empty() ? "" : "\n") + plain_message(line);
  });
}

void Runs::finish(const std::string& id, int exit_code) {
  bool was_cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    was_cancelled = is_cancelled_ || is_stopping_;
  }
  RunRecord record = find(id);
  record.summary = read_summary(record);
  if (!record.summary.is_null()) {
    record.state = state_of_summary(record.summary);
    record.error.clear();
  } else if (was_cancelled || exit_code == 130) {
    record.state = RunState::Cancelled;
    record.error = "cancelled before there was a result";
  } else {
    record.state = RunState::Failed;
    if (record.error.empty())
      record.error = exit_code > 128
                         ? fmt::format("the run was ended by signal {}", exit_code - 128)
                         : fmt::format("the run ended with code {}", exit_code);
  }
  change(id, [&](RunRecord& run) {
    run.state = record.state;
    run.error = record.error;
    run.summary = record.summary;
  });
  try {
    write_record(find(id));
    if (!record.summary.is_null() && !record.part_names.empty()) keep_part_names(record);
  } catch (const std::exception&) {
    // a full disk: the run folder itself shows what became of the run
  }
}

}  // namespace milieu::serve

// SPDX-License-Identifier: Apache-2.0
#include "serve/space/background_job.h"

#include <exception>

namespace milieu::serve {

namespace {

const char* state_name(JobState state) {
  switch (state) {
    case JobState::None:
      return "none";
    case JobState::Running:
      return "running";
    case JobState::Done:
      return "done";
    case JobState::Failed:
      return "failed";
    case JobState::Cancelled:
      break;
  }
  return "cancelled";
}

}  // namespace

class BackgroundJob::JobMonitor : public Monitor {
 public:
  JobMonitor(BackgroundJob& job, std::stop_token stop) : Monitor(std::move(stop)), job_(job) {}
  void on_progress(std::string_view stage, int64_t done, int64_t total) override {
    const std::lock_guard lock(job_.mutex_);
    job_.stage_ = stage;
    job_.done_ = done;
    job_.total_ = total;
  }

 private:
  BackgroundJob& job_;
};

BackgroundJob::~BackgroundJob() {
  cancel();
  wait();
}

void BackgroundJob::start(std::function<bool(Monitor&)> work) {
  const std::lock_guard starting(thread_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (state_ == JobState::Running || state_ == JobState::Done) return;
  }
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  state_ = JobState::Running;
  stage_ = error_ = "";
  done_ = total_ = 0;
  stop_ = std::stop_source();
  thread_ =
      std::thread([this, work = std::move(work), stop = stop_.get_token()] { run(stop, work); });
}

void BackgroundJob::run(const std::stop_token& stop, const std::function<bool(Monitor&)>& work) {
  JobMonitor monitor(*this, stop);
  JobState end = JobState::Failed;
  std::string error;
  try {
    end = work(monitor) ? JobState::Done : JobState::Cancelled;
  } catch (const std::exception& problem) {
    if (monitor.should_stop())
      end = JobState::Cancelled;
    else
      error = problem.what();
  }
  const std::lock_guard lock(mutex_);
  state_ = end;
  error_ = error;
}

void BackgroundJob::cancel() {
  const std::lock_guard lock(mutex_);
  stop_.request_stop();
}

void BackgroundJob::wait() {
  const std::lock_guard starting(thread_mutex_);
  if (thread_.joinable()) thread_.join();
}

JobState BackgroundJob::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

internal::Json BackgroundJob::to_json() const {
  const std::lock_guard lock(mutex_);
  internal::Json json{
      {"state", state_name(state_)}, {"stage", stage_}, {"done", done_}, {"total", total_}};
  if (!error_.empty()) json["error"] = error_;
  return json;
}

}  // namespace milieu::serve

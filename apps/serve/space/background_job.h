// SPDX-License-Identifier: Apache-2.0
// Work of the server that takes long: it runs on a thread of its own, says how far it is, can be
// cancelled, and is asked about until it is over.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "milieu/base/monitor.h"
#include "milieu/report/page_json.h"

namespace milieu::serve {

enum class JobState { None, Running, Done, Failed, Cancelled };

class BackgroundJob {
 public:
  BackgroundJob() = default;
  ~BackgroundJob();  // cancels and waits
  BackgroundJob(const BackgroundJob&) = delete;
  BackgroundJob& operator=(const BackgroundJob&) = delete;

  // Starts the work unless it runs or is done; after a failure or a cancel it starts again. The
  // work returns whether it has a result; what it throws is the failure.
  void start(std::function<bool(Monitor&)> work);
  void cancel();
  // Waits until the work is over.
  void wait();

  JobState state() const;
  // {"state", "stage", "done", "total"}, and "error" after a failure.
  internal::Json to_json() const;

 private:
  class JobMonitor;

  void run(const std::stop_token& stop, const std::function<bool(Monitor&)>& work);

  std::mutex thread_mutex_;  // starting and waiting
  std::thread thread_;
  mutable std::mutex mutex_;
  std::stop_source stop_;
  JobState state_ = JobState::None;
  std::string stage_, error_;
  int64_t done_ = 0, total_ = 0;
};

}  // namespace milieu::serve

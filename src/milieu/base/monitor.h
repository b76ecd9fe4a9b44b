// SPDX-License-Identifier: Apache-2.0
// Monitor: how a running method reports to its caller and is stopped by it. The library never
// prints: the command line, the server and the bindings each give their own monitor.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// What a method reports after every outer iteration.
struct IterationReport {
  int restart = 0;  // zero-based
  int num_restarts = 1;
  int iteration = 0;       // one-based within the restart
  int max_iterations = 0;  // 0 when there is no limit
  double objective = 0;
  double change = 0;   // objective minus the previous one
  double seconds = 0;  // since the fit began
};

// What a run is doing. Interrupted while Reading, nothing is lost; while Describing, finished
// features are on disk and the same command resumes; while Fitting, the result so far is valid.
enum class RunStage { Reading, Describing, Fitting };

// Why a method should stop now; None means continue.
enum class StopReason { None, Cancelled, TimeLimit };

class Monitor {
 public:
  using Clock = std::chrono::steady_clock;

  Monitor() = default;
  explicit Monitor(std::stop_token stop) : stop_(std::move(stop)) {}
  virtual ~Monitor() = default;

  // Called after every outer iteration, from the calling thread.
  virtual void on_iteration(const IterationReport&) {}

  // Called from time to time in long stages: `done` of `total` units (total 0 = unknown).
  virtual void on_progress(std::string_view stage, int64_t done, int64_t total) {
    (void)stage, (void)done, (void)total;
  }

  // Called when a run enters a stage; `what` names the input or the method.
  virtual void on_stage(RunStage stage, std::string_view what) { (void)stage, (void)what; }

  // Something a person should know at once, such as a file that was skipped. It is a warning of
  // the run's summary too, possibly as part of a count.
  virtual void on_note(std::string_view sentence) { (void)sentence; }

  // Asked at every outer iteration and about ten times a second in long inner loops; thread-safe
  // and cheap (an atomic load and a clock read).
  StopReason stop_reason() const {
    if (stop_.stop_requested()) return StopReason::Cancelled;
    if (deadline_ && Clock::now() >= *deadline_) return StopReason::TimeLimit;
    return StopReason::None;
  }
  bool should_stop() const { return stop_reason() != StopReason::None; }

  // Set before the fit begins, not while it runs. No deadline: nullopt.
  void set_deadline(std::optional<Clock::time_point> deadline) { deadline_ = deadline; }
  // A deadline `seconds` from now; 0 or less has passed already, infinity means none. Throws
  // InvalidArgument for NaN.
  void set_time_limit(double seconds);

 private:
  std::stop_token stop_;
  std::optional<Clock::time_point> deadline_;
};

// A monitor that ignores everything and never stops: the default argument of every fit. Shared by
// all callers: never set a deadline on it.
Monitor& silent_monitor();

// Seconds since construction, for summaries and reports.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(Monitor::Clock::now() - start_).count();
  }

 private:
  Monitor::Clock::time_point start_ = Monitor::Clock::now();
};

}  // namespace milieu

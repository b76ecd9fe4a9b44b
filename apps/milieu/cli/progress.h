// SPDX-License-Identifier: Apache-2.0
// A Monitor that shows progress on stderr: one rewritten line on a terminal, a plain line every few
// seconds elsewhere, nothing with --quiet. For programs (--progress-json): one JSON object per
// line, at most ten per second, whatever stderr is:
//
//   {"stage": "running", "restart": 3, "num_restarts": 20, "iteration": 17, "objective": 12.5,
//    "change": -0.1, "done": 3, "total": 20, "seconds": 1.2}
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "cli/commands.h"
#include "milieu/base/monitor.h"

namespace milieu::cli {

enum class ProgressStyle { Text, Json };

class ProgressMonitor : public Monitor {
 public:
  // `title` opens every line: "kmeans". `session` must outlive the monitor.
  ProgressMonitor(Session& session, std::string title, ProgressStyle style = ProgressStyle::Text);
  ~ProgressMonitor() override;  // clears the line

  void on_iteration(const IterationReport& report) override;
  void on_progress(std::string_view stage, int64_t done, int64_t total) override;
  // Announces the stage; while features are computed, Ctrl-C ends the program at once.
  void on_stage(RunStage stage, std::string_view what) override;
  void on_note(std::string_view sentence) override;

  // Shows `text` at once on a terminal (nothing elsewhere): "reading X.npy". It is the stage of
  // JSON lines too.
  void announce(std::string_view text);
  // Removes the line from the terminal; progress may continue after it.
  void clear();

 private:
  // What is known now; the clock runs between two reports.
  struct State {
    std::string text;
    double seconds_left = -1;  // estimated at `at`; below 0: unknown
    double at = 0;             // seconds on watch_
  };

  bool is_live() const;
  void report(std::string text, double seconds_left);
  void draw();
  void write_json(const IterationReport* report, int64_t done, int64_t total, bool is_due);
  void tick(const std::stop_token& over);
  void count_restart(const IterationReport& report);
  double share_of_restarts(const IterationReport& report) const;

  Console& console_;
  Interrupt& interrupt_;
  std::string title_;
  ProgressStyle style_;
  Stopwatch watch_;
  std::mutex mutex_;  // on_progress may come from any thread, and the ticker draws too
  State state_;
  double last_drawn_ = 0;  // seconds on watch_
  bool is_line_shown_ = false;
  bool has_lost_reader_ = false;  // of JSON lines
  std::string stage_;
  double stage_began_ = 0;     // seconds on watch_
  int64_t stage_first_ = 0;    // units that were done when it began
  int restart_ = 0;            // the one that reports now
  int iterations_before_ = 0;  // of all finished restarts
  int last_iteration_ = 0;
  std::condition_variable_any wake_;
  std::jthread ticker_;  // keeps the clock going on a terminal; last, so that it ends first
};

// "0:07", "12:34", "1:02:03".
std::string clock_text(double seconds);

// "[#######-----]": a bar of `width` cells, `share` in [0, 1] of them filled.
std::string bar_text(double share, int width, bool has_unicode);

}  // namespace milieu::cli

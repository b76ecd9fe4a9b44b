// SPDX-License-Identifier: Apache-2.0
// A Monitor that shows progress on stderr: one rewritten line on a terminal, a plain line every few
// seconds elsewhere, nothing with --quiet.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "console.h"
#include "milieu/base/monitor.h"

namespace milieu::cli {

class ProgressMonitor : public Monitor {
 public:
  // `title` opens every line: "kmeans". `console` must outlive the monitor.
  ProgressMonitor(Console& console, std::stop_token stop, std::string title);
  ~ProgressMonitor() override;  // clears the line

  void on_iteration(const IterationReport& report) override;
  void on_progress(std::string_view stage, int64_t done, int64_t total) override;

  // Shows `text` at once on a terminal (nothing elsewhere): "reading X.npy".
  void announce(std::string_view text);
  // Removes the line from the terminal; progress may go on after it.
  void clear();

 private:
  bool is_due();
  void show(const std::string& text);
  std::string describe_iteration(const IterationReport& report) const;
  void count_restart(const IterationReport& report);

  Console& console_;
  std::string title_;
  Stopwatch watch_;
  std::mutex mutex_;       // on_progress may come from any thread
  double last_shown_ = 0;  // seconds on watch_
  bool is_line_shown_ = false;
  std::string stage_;
  double stage_began_ = 0;     // seconds on watch_
  int restart_ = 0;            // the one that reports now
  int iterations_before_ = 0;  // of all finished restarts
  int last_iteration_ = 0;
};

// "0:07", "12:34", "1:02:03".
std::string clock_text(double seconds);

// "[#######-----]": a bar of `width` cells, `share` in [0, 1] of them filled.
std::string bar_text(double share, int width, bool has_unicode);

}  // namespace milieu::cli

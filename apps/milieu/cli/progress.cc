// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace milieu::cli {

namespace {

constexpr double kTerminalPeriod = 0.1;  // seconds between two redraws of the line
constexpr double kPlainPeriod = 5;       // seconds between two plain lines
constexpr int kBarWidth = 20;

int terminal_width() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

// At most `width` columns; multi-byte characters count as one.
std::string clip(const std::string& text, int width) {
  int columns = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts_character = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts_character && ++columns > width) return text.substr(0, i);
  }
  return text;
}

}  // namespace

std::string clock_text(double seconds) {
  const int64_t total = std::max<int64_t>(0, std::llround(seconds));
  if (total >= 3600)
    return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

std::string bar_text(double share, int width, bool has_unicode) {
  const int filled = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * width));
  std::string bar = has_unicode ? "" : "[";
  for (int i = 0; i < width; ++i)
    bar += i < filled ? (has_unicode ? "█" : "#") : (has_unicode ? "░" : "-");
  return has_unicode ? bar : bar + "]";
}

ProgressMonitor::ProgressMonitor(Session& session, std::string title, ProgressStyle style)
    : Monitor(session.interrupt.token()),
      console_(session.console),
      interrupt_(session.interrupt),
      title_(std::move(title)),
      style_(style) {
  if (is_live()) ticker_ = std::jthread([this](const std::stop_token& over) { tick(over); });
}

ProgressMonitor::~ProgressMonitor() {
  ticker_ = {};  // ends it
  clear();
}

void ProgressMonitor::on_stage(RunStage stage, std::string_view what) {
  interrupt_.set_resumable(stage == RunStage::Describing);
  if (stage == RunStage::Fitting)
    announce("running");
  else if (stage == RunStage::Reading)
    announce(what.empty() ? "reading" : fmt::format("reading {}", what));
}

void ProgressMonitor::on_note(std::string_view sentence) {
  clear();
  console_.note(fmt::format("{} {}", console_.paint_err(Style::Yellow, "warning:"), sentence));
}

void ProgressMonitor::on_iteration(const IterationReport& report) {
  const std::lock_guard lock(mutex_);
  if (style_ == ProgressStyle::Json)
    return write_json(&report, report.restart, report.num_restarts, false);
  count_restart(report);
  std::string text;
  double seconds_left = -1;
  if (report.num_restarts > 1) {
    const double share = share_of_restarts(report);
    if (report.restart > 0) seconds_left = report.seconds * (1 - share) / share;
    text = fmt::format("{}  restart {}/{}  ", bar_text(share, kBarWidth, console_.has_unicode()),
                       report.restart + 1, report.num_restarts);
  }
  text += fmt::format("iteration {}", report.iteration);
  // A single start may converge at any time: its limit is shown, and no estimate.
  if (report.num_restarts <= 1 && report.max_iterations > 0)
    text += fmt::format(" of at most {}", report.max_iterations);
  text += fmt::format("  objective {:.6g}", report.objective);
  this->report(std::move(text), seconds_left);
}

void ProgressMonitor::on_progress(std::string_view stage, int64_t done, int64_t total) {
  const std::lock_guard lock(mutex_);
  if (stage != stage_) {
    stage_ = stage;
    stage_began_ = watch_.seconds();
    stage_first_ = std::max<int64_t>(0, done - 1);
  }
  if (style_ == ProgressStyle::Json) return write_json(nullptr, done, total, done == total);
  if (total <= 0) return report(std::string(stage), -1);
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const double elapsed = watch_.seconds() - stage_began_;
  const int64_t done_here = done - stage_first_;  // images of an earlier run took no time
  std::string text = fmt::format("{}  {}  {:.0f} %", stage,
                                 bar_text(share, kBarWidth, console_.has_unicode()), 100 * share);
  if (stage.starts_with("images") && elapsed > 0 && done_here > 0)
    text += fmt::format("  {:.1f} images/s", static_cast<double>(done_here) / elapsed);
  report(std::move(text), done_here > 0 ? elapsed * static_cast<double>(total - done) /
                                              static_cast<double>(done_here)
                                        : -1);
}

void ProgressMonitor::announce(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (style_ == ProgressStyle::Json) {
    stage_ = text;
    return write_json(nullptr, 0, 0, true);
  }
  if (!is_live()) return;
  state_ = {.text = std::string(text), .seconds_left = -1, .at = watch_.seconds()};
  draw();
}

void ProgressMonitor::clear() {
  const std::lock_guard lock(mutex_);
  state_.text.clear();
  if (!is_line_shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  is_line_shown_ = false;
}

// A line that is drawn again and again, not plain lines.
bool ProgressMonitor::is_live() const {
  return console_.err_is_terminal() && !console_.is_quiet() && style_ == ProgressStyle::Text;
}

void ProgressMonitor::write_json(const IterationReport* report, int64_t done, int64_t total,
                                 bool is_due) {
  const double now = watch_.seconds();
  if (!is_due && now - last_drawn_ < kTerminalPeriod) return;
  last_drawn_ = now;
  nlohmann::ordered_json line{{"stage", stage_}};
  if (report) {
    line["restart"] = report->restart;
    line["num_restarts"] = report->num_restarts;
    line["iteration"] = report->iteration;
    line["objective"] = report->objective;  // null when it is not finite
    line["change"] = report->change;
  }
  line["done"] = done;
  line["total"] = total;
  line["seconds"] = now;
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  // Whoever asked for progress is gone: stop, and keep what is valid.
  if ((std::fputs(text.c_str(), stderr) < 0 || std::fflush(stderr) != 0) && !has_lost_reader_) {
    has_lost_reader_ = true;
    std::raise(SIGINT);
  }
}

// Keeps the update, and shows it if the last one was shown long enough ago.
void ProgressMonitor::report(std::string text, double seconds_left) {
  const double now = watch_.seconds();
  state_ = {.text = std::move(text), .seconds_left = seconds_left, .at = now};
  if (now - last_drawn_ >= (is_live() ? kTerminalPeriod : kPlainPeriod)) draw();
}

void ProgressMonitor::draw() {
  // After Ctrl-C the last word on the terminal is that we are stopping.
  if (console_.is_quiet() || state_.text.empty() || stop_reason() == StopReason::Cancelled) return;
  const double now = watch_.seconds();
  last_drawn_ = now;
  const std::string what = fmt::format("{}  {}", title_, state_.text);
  std::string time = "  " + clock_text(now);
  // An estimate that has run out says nothing: it was too low.
  const double left = state_.seconds_left - (now - state_.at);
  if (left >= 1) time += fmt::format(", about {} left", clock_text(left));
  if (!is_live()) return console_.note(what + time);
  // Where there is little room, the time is what people look for.
  const int width = terminal_width() - 1;
  const std::string head = clip(what, std::max(0, width - static_cast<int>(time.size())));
  fmt::print(stderr, "\r{}\x1b[K", clip(head + time, width));
  std::fflush(stderr);
  is_line_shown_ = true;
}

void ProgressMonitor::tick(const std::stop_token& over) {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, over, std::chrono::milliseconds(500), [] { return false; })) {
    if (over.stop_requested()) return;
    if (watch_.seconds() - last_drawn_ >= 0.5) draw();
  }
}

// Keeps what the estimate needs: how many iterations the finished restarts took.
void ProgressMonitor::count_restart(const IterationReport& report) {
  if (report.restart != restart_) {
    iterations_before_ += last_iteration_;
    restart_ = report.restart;
  }
  last_iteration_ = report.iteration;
}

// Restarts take about equally long, so the finished ones show how far along this one is.
double ProgressMonitor::share_of_restarts(const IterationReport& report) const {
  double within = 0;
  if (report.restart > 0 && iterations_before_ > 0) {
    const double usual = static_cast<double>(iterations_before_) / report.restart;
    within = std::min(report.iteration / usual, 0.95);
  }
  return (report.restart + within) / report.num_restarts;
}

}  // namespace milieu::cli

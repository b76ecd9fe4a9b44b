// SPDX-License-Identifier: Apache-2.0
// Progress, cancelling and deadlines: a stopped run returns a valid result and says why it ended.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <stop_token>
#include <thread>

#include "methods.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

void expect_valid(const ConformanceOutcome& outcome, FloatView points, bool may_leave_out) {
  ASSERT_EQ(static_cast<int64_t>(outcome.labels.size()), points.rows());
  EXPECT_THAT(outcome.labels,
              HasLabelsBelow(static_cast<int>(outcome.summary.sizes.size()), may_leave_out));
  EXPECT_FALSE(std::isnan(outcome.summary.objective));
  EXPECT_FALSE(outcome.summary.message.empty());
  if (!outcome.predict) return;
  const std::vector<int> predicted = outcome.predict(points);
  for (size_t i = 0; i < predicted.size(); ++i)
    if (outcome.labels[i] >= 0) {
      EXPECT_EQ(outcome.labels[i], predicted[i]) << "sample " << i;
    }
}

TEST_P(Conformance, RunCancelledFromTheStartIsValid) {
  const LabelledPoints data = make_overlapping(500, 3, 4, 1);
  std::stop_source source;
  source.request_stop();
  Monitor monitor(source.get_token());
  const ConformanceOutcome outcome = method().fit(data.points, {.num_clusters = 4}, monitor);
  EXPECT_EQ(outcome.summary.termination, Termination::Cancelled);
  expect_valid(outcome, data.points, true);  // what was not reached may stay without a label
}

TEST_P(Conformance, DeadlineThatHasPassedIsATimeLimit) {
  const LabelledPoints data = make_overlapping(500, 3, 4, 1);
  Monitor monitor;
  monitor.set_time_limit(0);
  const ConformanceOutcome outcome = method().fit(data.points, {.num_clusters = 4}, monitor);
  EXPECT_EQ(outcome.summary.termination, Termination::TimeLimit);
  expect_valid(outcome, data.points, true);
}

// Cancels when the first iteration, or the first progress of a stage, is reported.
class StopAtFirstReport : public Monitor {
 public:
  explicit StopAtFirstReport(std::stop_source source)
      : Monitor(source.get_token()), source_(std::move(source)) {}
  void on_iteration(const IterationReport&) override { source_.request_stop(); }
  void on_progress(std::string_view, int64_t, int64_t) override { source_.request_stop(); }

 private:
  std::stop_source source_;
};

TEST_P(Conformance, RunCancelledInTheMiddleIsValid) {
  const LabelledPoints data = make_overlapping(method().num_samples, 4, 8, 2);
  StopAtFirstReport monitor{std::stop_source()};
  const ConformanceOutcome outcome = method().fit(data.points, {.num_clusters = 8}, monitor);
  EXPECT_TRUE(monitor.should_stop()) << "nothing was ever reported";
  EXPECT_EQ(outcome.summary.termination, Termination::Cancelled);
  if (!method().labels_in_a_pass) return expect_valid(outcome, data.points, method().may_leave_out);
  // On a busy machine the time for that pass ends before all samples are reached.
  ASSERT_EQ(static_cast<int64_t>(outcome.labels.size()), data.points.rows());
  EXPECT_THAT(outcome.labels, HasLabelsBelow(8, true));
  EXPECT_FALSE(std::isnan(outcome.summary.objective));
}

class Recorder : public Monitor {
 public:
  void on_iteration(const IterationReport& report) override {
    EXPECT_EQ(std::this_thread::get_id(), caller_);
    reports.push_back(report);
  }
  void on_progress(std::string_view, int64_t done, int64_t total) override {
    EXPECT_GE(done, 0);
    if (total > 0) {
      EXPECT_LE(done, total);
    }
    ++num_progress;
  }
  std::vector<IterationReport> reports;
  int num_progress = 0;

 private:
  std::thread::id caller_ = std::this_thread::get_id();
};

TEST_P(Conformance, ProgressIsReportedInOrder) {
  const LabelledPoints data = make_overlapping(method().num_samples, 4, 6, 3);
  Recorder recorder;
  const ConformanceSettings settings{.num_clusters = 6, .num_threads = 2};
  const RunSummary summary = method().fit(data.points, settings, recorder).summary;
  ASSERT_TRUE(!recorder.reports.empty() || recorder.num_progress > 0);
  std::map<int, int> last_iteration;
  double last_seconds = 0;
  for (const IterationReport& report : recorder.reports) {
    ASSERT_GE(report.restart, 0);
    ASSERT_LT(report.restart, report.num_restarts);
    ASSERT_GT(report.iteration, last_iteration[report.restart]);
    ASSERT_GE(report.seconds, last_seconds);
    if (report.max_iterations > 0) {
      ASSERT_LE(report.iteration, report.max_iterations);
    }
    last_iteration[report.restart] = report.iteration;
    last_seconds = report.seconds;
  }
  if (method().direction == TraceDirection::Free || recorder.reports.empty()) return;
  std::vector<double> reported;
  for (const IterationReport& report : recorder.reports)
    if (report.restart == summary.restart) reported.push_back(report.objective);
  const auto is_in_trace = [&](double objective) {
    return std::find(summary.trace.begin(), summary.trace.end(), objective) != summary.trace.end();
  };
  ASSERT_FALSE(reported.empty());
  EXPECT_TRUE(is_in_trace(reported.back())) << reported.back();
}

// A monitor changes nothing but what is reported.
TEST_P(Conformance, ListeningDoesNotChangeTheResult) {
  const LabelledPoints data = make_overlapping(500, 3, 4, 4);
  Recorder recorder;
  recorder.set_time_limit(3600);
  const ConformanceOutcome heard = method().fit(data.points, {.num_clusters = 4}, recorder);
  const ConformanceOutcome unheard = fit(data.points, {.num_clusters = 4});
  EXPECT_EQ(heard.labels, unheard.labels);
  EXPECT_THAT(heard.summary.trace, HasBitsOf(unheard.summary.trace));
}

}  // namespace
}  // namespace milieu

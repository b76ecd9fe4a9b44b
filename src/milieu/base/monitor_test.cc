// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/monitor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "milieu/base/error.h"

namespace milieu {
namespace {

TEST(Monitor, SilentMonitorNeverStops) {
  EXPECT_EQ(silent_monitor().stop_reason(), StopReason::None);
  EXPECT_FALSE(silent_monitor().should_stop());
  silent_monitor().on_iteration({});
  silent_monitor().on_progress("reading", 1, 2);
}

TEST(Monitor, StopTokenCancels) {
  std::stop_source source;
  const Monitor monitor(source.get_token());
  EXPECT_FALSE(monitor.should_stop());
  source.request_stop();
  EXPECT_EQ(monitor.stop_reason(), StopReason::Cancelled);
}

TEST(Monitor, DeadlineThatHasPassedIsATimeLimit) {
  Monitor monitor;
  monitor.set_deadline(Monitor::Clock::now() - std::chrono::seconds(1));
  EXPECT_EQ(monitor.stop_reason(), StopReason::TimeLimit);
  monitor.set_deadline(Monitor::Clock::now() + std::chrono::hours(1));
  EXPECT_FALSE(monitor.should_stop());
  monitor.set_deadline(std::nullopt);
  EXPECT_FALSE(monitor.should_stop());
}

TEST(Monitor, CancellingComesBeforeTheDeadline) {
  std::stop_source source;
  source.request_stop();
  Monitor monitor(source.get_token());
  monitor.set_time_limit(0);
  EXPECT_EQ(monitor.stop_reason(), StopReason::Cancelled);
}

TEST(Monitor, TimeLimitsOfAnySizeAreDefined) {
  Monitor monitor;
  for (const double passed : {0.0, -1.0, -1e300, -std::numeric_limits<double>::infinity()}) {
    monitor.set_time_limit(passed);
    EXPECT_EQ(monitor.stop_reason(), StopReason::TimeLimit) << passed;
  }
  for (const double far : {3600.0, 1e9, 1e300, std::numeric_limits<double>::infinity()}) {
    monitor.set_time_limit(far);
    EXPECT_FALSE(monitor.should_stop()) << far;
  }
  EXPECT_THROW(monitor.set_time_limit(std::nan("")), InvalidArgument);
}

TEST(Monitor, StopwatchMovesForward) {
  const Stopwatch watch;
  const double first = watch.seconds();
  EXPECT_GE(first, 0);
  EXPECT_GE(watch.seconds(), first);
}

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/monitor.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"

namespace milieu {

void Monitor::set_time_limit(double seconds) {
  require(!std::isnan(seconds), "time limit is NaN, must be a number of seconds");
  constexpr double kForever = 1e9;  // 30 years; the clock's own range is not much longer
  if (seconds >= kForever) {
    deadline_.reset();
    return;
  }
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(std::max(seconds, 0.0)));
}

Monitor& silent_monitor() {
  static Monitor monitor;
  return monitor;
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/testing/stop_latency.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <stop_token>
#include <thread>

namespace milieu {

namespace {

double cpu_seconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double stop_seconds(const std::function<void(Monitor&)>& fit, double moment) {
  std::stop_source stop;
  Monitor monitor(stop.get_token());
  std::atomic<bool> is_over = false;
  const double begin = cpu_seconds();
  std::jthread worker([&] {
    fit(monitor);
    is_over = true;
  });
  while (!is_over && cpu_seconds() - begin < moment)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (is_over) return 0;
  const double told = cpu_seconds();
  stop.request_stop();
  worker.join();
  return cpu_seconds() - told;
}

}  // namespace

double worst_stop_seconds(const std::function<void(Monitor&)>& fit) {
  double worst = 0;
  for (const double moment : {0.05, 0.3, 1.0}) worst = std::max(worst, stop_seconds(fit, moment));
  return worst;
}

}  // namespace milieu

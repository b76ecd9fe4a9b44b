// SPDX-License-Identifier: Apache-2.0
// Work on many items in parallel whose results are taken one by one in the order of the items, with
// few results in memory however uneven the work is.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "milieu/base/monitor.h"
#include "milieu/base/parallel.h"

namespace milieu::internal {

// take(i, make(i)) for i = 0, 1, ..., n - 1. make runs on several threads, take on one at a time
// and in order. Stops between items when the monitor says so; the items taken are then a beginning
// of all. The first exception ends the work and is thrown again.
template <class Make, class Take>
void for_each_in_order(int64_t n, int num_threads, const Monitor& monitor, Make make, Take take) {
  using Result = decltype(make(int64_t{0}));
  const int64_t workers = std::min<int64_t>(resolve_num_threads(num_threads), n);
  const int64_t window = 2 * workers;  // results that wait for an earlier one
  std::mutex mutex;
  std::condition_variable wake;
  std::map<int64_t, Result> ready;
  int64_t next = 0, taken = 0;
  bool is_over = false;
  const auto work = [&](const Block&) {
    while (true) {
      std::unique_lock lock(mutex);
      if (is_over || next >= n || monitor.should_stop()) return;
      const int64_t i = next++;
      wake.wait(lock, [&] { return is_over || i < taken + window; });
      if (is_over) return;
      lock.unlock();
      try {
        Result result = make(i);
        lock.lock();
        ready.emplace(i, std::move(result));
        for (auto first = ready.begin(); first != ready.end() && first->first == taken && !is_over;
             first = ready.begin(), ++taken) {
          take(taken, std::move(first->second));
          ready.erase(first);
        }
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        is_over = true;
        wake.notify_all();
        throw;
      }
      wake.notify_all();
    }
  };
  parallel_for(workers, 1, num_threads, work);
}

}  // namespace milieu::internal

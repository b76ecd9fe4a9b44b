// SPDX-License-Identifier: Apache-2.0
// Lets loops run on more threads than the machine has cores, so that tests of "same bits for any
// number of threads" mean what they say on a small machine.
#pragma once

#include <memory>

namespace milieu {

// While it lives, parallel loops may use up to `num_threads` threads.
class ThreadLimit {
 public:
  explicit ThreadLimit(int num_threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  struct Control;
  std::unique_ptr<Control> control_;
};

}  // namespace milieu

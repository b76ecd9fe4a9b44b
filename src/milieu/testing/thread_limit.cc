// SPDX-License-Identifier: Apache-2.0
#include "milieu/testing/thread_limit.h"

#include <tbb/global_control.h>

namespace milieu {

struct ThreadLimit::Control {
  tbb::global_control limit;
};

ThreadLimit::ThreadLimit(int num_threads)
    : control_(new Control{
          {tbb::global_control::max_allowed_parallelism, static_cast<size_t>(num_threads)}}) {}

ThreadLimit::~ThreadLimit() = default;

}  // namespace milieu

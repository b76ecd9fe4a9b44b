// SPDX-License-Identifier: Apache-2.0
// Work on data that may be hostile, tried in a child process first: a crash, an endless loop or a
// request for all memory ends the child, not the program.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "milieu/base/monitor.h"

namespace milieu::internal {

struct TrialLimits {
  int64_t memory = int64_t{4} << 30;  // bytes beyond what the process has now
  double seconds = 120;
};

struct TrialResult {
  enum class Kind { Done, Failed, Crashed, TooSlow, Stopped };
  Kind kind = Kind::Done;
  std::string text;  // Done: what the work returned; Failed: why; Crashed: the signal
};

// Runs `work` in a child process and returns what came of it. An exception is Failed; Stopped means
// that the monitor asked for it. The work must need no other thread of this process.
TrialResult try_in_child(const std::function<std::string()>& work, const TrialLimits& limits,
                         const Monitor& monitor);

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// How long a fit works on after it was told to stop.
#pragma once

#include <functional>

#include "milieu/base/monitor.h"

namespace milieu {

// Runs `fit` several times and tells it to stop after 0.05 to 1 second of work: the most CPU
// seconds that it used after that. CPU time, not the clock's: other processes do not count. The fit
// must use one thread.
double worst_stop_seconds(const std::function<void(Monitor&)>& fit);

}  // namespace milieu

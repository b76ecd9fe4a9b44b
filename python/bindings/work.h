// SPDX-License-Identifier: Apache-2.0
// How a fit runs under Python: on a thread without the interpreter's lock, while the calling thread
// waits, delivers reports to the user's callback and looks for signals. Ctrl-C stops the fit at its
// next look at the monitor.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>

#include "milieu/base/monitor.h"

namespace milieu::python {

namespace py = pybind11;

// What the caller wants beside the result.
struct Control {
  py::object callback;        // called with a dict after each iteration; None: not at all
  bool keep_partial = false;  // an interrupt leaves the result so far instead of KeyboardInterrupt
};

Control control_from(const py::dict& given);

// Runs `work`. Rethrows what it throws; what the callback or a signal handler throws stops it and
// is thrown in its place, but for a KeyboardInterrupt with keep_partial.
void run_work(const Control& control, const std::function<void(Monitor&)>& work);

// Number of threads to use for `wanted`: 1 in a process that was forked from one that had loaded
// this module, because oneTBB's threads do not survive a fork.
int usable_threads(int wanted);

}  // namespace milieu::python

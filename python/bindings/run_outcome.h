// SPDX-License-Identifier: Apache-2.0
// A fitted estimator as the outcome of a run, so that the library writes its run folder and report.
#pragma once

#include <pybind11/pybind11.h>

#include "milieu/run/outcome.h"

namespace milieu::python {

// `run` is a dict: method, options (by the library's names), labels, model (bytes), summary,
// columns (name to array), files (name to text), and, each or None: points, names, truth,
// class_names, root.
RunOutcome outcome_from(const pybind11::dict& run);

}  // namespace milieu::python

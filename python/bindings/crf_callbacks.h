// SPDX-License-Identifier: Apache-2.0
// Regularisers and projections of weights that are written in Python. They may be called from any
// thread.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "milieu/crf/train.h"

namespace milieu::python {

namespace py = pybind11;

// regularizer(w) gives (value, subgradient). Empty for None.
CrfPrice price_from(py::handle function);
// projection(w) gives the nearest weights that are allowed. Empty for None.
CrfProjection projection_from(py::handle function);

}  // namespace milieu::python

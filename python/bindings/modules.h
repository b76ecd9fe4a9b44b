// SPDX-License-Identifier: Apache-2.0
// What each file of the bindings adds to the module `_core`.
#pragma once

#include <pybind11/pybind11.h>

namespace milieu::python {

void bind_classic(pybind11::module_& m);
void bind_counts(pybind11::module_& m);
void bind_dcp(pybind11::module_& m);
void bind_cac(pybind11::module_& m);
void bind_icc(pybind11::module_& m);
void bind_exemplar(pybind11::module_& m);
void bind_dlgmm(pybind11::module_& m);
void bind_crf(pybind11::module_& m);
void bind_metrics(pybind11::module_& m);
void bind_naming(pybind11::module_& m);
void bind_files(pybind11::module_& m);

}  // namespace milieu::python

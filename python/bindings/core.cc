// SPDX-License-Identifier: Apache-2.0
// The extension module `milieu._core`: every method on arrays, without OpenCV. The package around
// it (python/milieu) has the estimators that people use.
#include <pybind11/pybind11.h>

#include "errors.h"
#include "milieu/base/summary.h"
#include "modules.h"

namespace py = pybind11;

PYBIND11_MODULE(_core, m) {
  using namespace milieu::python;
  m.doc() = "Milieu's methods on arrays. Use the estimators of the package `milieu`.";
  py::register_exception_translator(&translate_error);
  m.attr("__version__") = milieu::version();
  m.attr("declarations") = py::dict();
  bind_classic(m);
  bind_counts(m);
  bind_dcp(m);
  bind_cac(m);
  bind_icc(m);
  bind_exemplar(m);
  bind_dlgmm(m);
  bind_crf(m);
  bind_metrics(m);
  bind_naming(m);
  bind_files(m);
}

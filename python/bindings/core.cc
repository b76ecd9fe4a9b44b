// SPDX-License-Identifier: Apache-2.0
// The extension module `milieu._core`: every method on arrays, without OpenCV. The package around it
// (python/milieu) has the estimators that people use.
#include <pybind11/pybind11.h>

#include "milieu/base/error.h"
#include "milieu/base/summary.h"
#include "modules.h"

namespace py = pybind11;

namespace milieu::python {

namespace {

// The library's errors as Python's own.
void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const IoError& error) {
    PyErr_SetString(PyExc_OSError, error.what());
  } catch (const Error& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  }
}

}  // namespace

}  // namespace milieu::python

PYBIND11_MODULE(_core, m) {
  using namespace milieu::python;
  m.doc() = "Milieu's methods on arrays. Use the estimators of the package `milieu`.";
  py::register_exception_translator(&translate);
  m.attr("__version__") = milieu::version();
  m.attr("declarations") = py::dict();
  bind_classic(m);
  bind_counts(m);
  bind_dcp(m);
  bind_cac(m);
  bind_icc(m);
  bind_exemplar(m);
  bind_dlgmm(m);
  bind_metrics(m);
}

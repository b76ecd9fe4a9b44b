// SPDX-License-Identifier: Apache-2.0
// The library's errors as Python's own.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>

#include "milieu/base/error.h"

namespace milieu::python {

inline void translate_error(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const IoError& error) {
    PyErr_SetString(PyExc_OSError, error.what());
  } catch (const Error& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  }
}

}  // namespace milieu::python

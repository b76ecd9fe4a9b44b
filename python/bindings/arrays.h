// SPDX-License-Identifier: Apache-2.0
// From Python's arrays to the views that the library takes, and back. float32 rows go in without a
// copy, whatever their stride; everything else is converted once.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "milieu/linalg/matrix.h"

namespace milieu::python {

namespace py = pybind11;

// Views of Python's arrays, valid as long as this object. `name` is the user's name for the
// argument, in messages.
class Arrays {
 public:
  FloatView floats(py::handle value, const std::string& name);                  // 2-d
  DoubleView doubles(py::handle value, const std::string& name);                // 2-d
  std::span<const double> numbers(py::handle value, const std::string& name);   // 1-d
  std::span<const int> integers(py::handle value, const std::string& name);     // 1-d
  std::span<const int64_t> offsets(py::handle value, const std::string& name);  // 1-d
  MatrixView<const int32_t> grid(py::handle value, const std::string& name);    // 2-d
  std::span<const std::pair<int64_t, int64_t>> pairs(py::handle value, const std::string& name);

 private:
  template <class T>
  py::array_t<T, py::array::c_style> converted(py::handle value, const std::string& name, int rank);

  std::vector<py::object> kept_;
  std::deque<std::vector<std::pair<int64_t, int64_t>>> pairs_;
};

// A new array that takes over the values.
template <class T>
py::array_t<T> to_array(std::vector<T> values) {
  auto* moved = new std::vector<T>(std::move(values));
  const py::capsule owner(moved, [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return py::array_t<T>(static_cast<py::ssize_t>(moved->size()), moved->data(), owner);
}

template <class T>
py::array_t<T> to_array(Matrix<T> values) {
  auto* moved = new Matrix<T>(std::move(values));
  const py::capsule owner(moved, [](void* p) { delete static_cast<Matrix<T>*>(p); });
  return py::array_t<T>({moved->rows(), moved->cols()}, moved->data(), owner);
}

// A read-only array on memory that `owner` keeps alive.
template <class T>
py::array_t<T> read_only_array(std::vector<py::ssize_t> shape, const T* data, py::handle owner) {
  py::array_t<T> array(std::move(shape), data, owner);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

}  // namespace milieu::python

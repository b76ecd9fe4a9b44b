// SPDX-License-Identifier: Apache-2.0
#include "crf_callbacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "milieu/base/error.h"

namespace milieu::python {

namespace {

using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;

// A Python object that may be dropped by any thread.
std::shared_ptr<py::object> shared(py::handle function) {
  return {new py::object(py::reinterpret_borrow<py::object>(function)), [](py::object* object) {
            const py::gil_scoped_acquire acquire;
            delete object;
          }};
}

py::array_t<double> array_of(std::span<const double> w) {
  return py::array_t<double>(static_cast<py::ssize_t>(w.size()), w.data());
}

void copy_to(const py::object& given, const char* what, std::span<double> out) {
  const auto numbers = py::cast<Numbers>(given);
  if (numbers.ndim() != 1 || static_cast<size_t>(numbers.size()) != out.size())
    throw InvalidArgument(fmt::format("{} gave {} numbers, must give one per weight: {}", what,
                                      numbers.size(), out.size()));
  std::copy_n(numbers.data(), out.size(), out.data());
}

}  // namespace

CrfPrice price_from(py::handle function) {
  if (function.is_none()) return {};
  return [object = shared(function)](std::span<const double> w, std::span<double> slope) {
    const py::gil_scoped_acquire acquire;
    const py::object given = (*object)(array_of(w));
    if (!py::isinstance<py::tuple>(given) || py::len(given) != 2)
      throw InvalidArgument("regularizer_function must give a pair: its value and a subgradient");
    const auto pair = py::cast<py::tuple>(given);
    copy_to(pair[1], "the subgradient of regularizer_function", slope);
    return py::cast<double>(pair[0]);
  };
}

CrfProjection projection_from(py::handle function) {
  if (function.is_none()) return {};
  return [object = shared(function)](std::span<double> w) {
    const py::gil_scoped_acquire acquire;
    copy_to((*object)(array_of(w)), "projection_function", w);
  };
}

}  // namespace milieu::python

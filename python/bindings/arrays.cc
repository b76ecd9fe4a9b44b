// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"

#include <fmt/format.h>

#include "milieu/base/error.h"

namespace milieu::python {

namespace {

std::string type_name(py::handle value) {
  return py::str(py::type::handle_of(value).attr("__name__"));
}

// Memory that can be looked at as rows of T: aligned, entries of a row side by side, rows in order.
template <class T>
bool has_plain_rows(const py::array& array) {
  const py::ssize_t item = sizeof(T), rows = array.shape(0), cols = array.shape(1);
  return (cols <= 1 || array.strides(1) == item) &&
         (rows <= 1 || (array.strides(0) >= cols * item && array.strides(0) % item == 0)) &&
         reinterpret_cast<uintptr_t>(array.data()) % alignof(T) == 0;
}

void check_rank(const py::array& array, const std::string& name, int rank) {
  if (array.ndim() != rank)
    throw InvalidArgument(fmt::format("{} has {} dimension{}, must have {}{}", name, array.ndim(),
                                      array.ndim() == 1 ? "" : "s", rank,
                                      rank == 2 ? ": samples are rows" : ""));
}

}  // namespace

template <class T>
py::array_t<T, py::array::c_style> Arrays::converted(py::handle value, const std::string& name,
                                                     int rank) {
  using Target = py::array_t<T, py::array::c_style | py::array::forcecast>;
  const py::array given = py::array::ensure(value);
  if (!given) {
    PyErr_Clear();
    throw InvalidArgument(fmt::format("{} is a {}, must be an array", name, type_name(value)));
  }
  check_rank(given, name, rank);
  const char kind = given.dtype().kind();
  const bool is_whole = kind == 'i' || kind == 'u' || kind == 'b';
  if (!(is_whole || (kind == 'f' && std::is_floating_point_v<T>)) && given.size() > 0)
    throw InvalidArgument(fmt::format("{} has the type {}, must be {}", name,
                                      std::string(py::str(given.dtype())),
                                      std::is_floating_point_v<T> ? "numbers" : "whole numbers"));
  if (std::is_same_v<T, int> && is_whole && given.itemsize() >= 4 && given.size() > 0) {
    const py::object lowest = given.attr("min")(), highest = given.attr("max")();
    if (py::cast<double>(py::float_(lowest)) < -2147483648.0 ||
        py::cast<double>(py::float_(highest)) > 2147483647.0)
      throw InvalidArgument(fmt::format("{} has entries that do not fit into 32 bits", name));
  }
  Target array = Target::ensure(value);
  if (!array) throw py::error_already_set();
  kept_.push_back(array);
  return array;
}

FloatView Arrays::floats(py::handle value, const std::string& name) {
  if (py::isinstance<py::array_t<float>>(value)) {
    const auto given = py::reinterpret_borrow<py::array>(value);
    check_rank(given, name, 2);
    if (has_plain_rows<float>(given)) {
      kept_.push_back(given);
      const py::ssize_t cols = given.shape(1);
      const py::ssize_t stride =
          given.shape(0) > 1 ? given.strides(0) / static_cast<py::ssize_t>(sizeof(float)) : cols;
      return {static_cast<const float*>(given.data()), given.shape(0), cols, stride};
    }
  }
  const auto array = converted<float>(value, name, 2);
  return {array.data(), array.shape(0), array.shape(1)};
}

DoubleView Arrays::doubles(py::handle value, const std::string& name) {
  const auto array = converted<double>(value, name, 2);
  return {array.data(), array.shape(0), array.shape(1)};
}

std::span<const double> Arrays::numbers(py::handle value, const std::string& name) {
  const auto array = converted<double>(value, name, 1);
  return {array.data(), static_cast<size_t>(array.size())};
}

std::span<const int> Arrays::integers(py::handle value, const std::string& name) {
  const auto array = converted<int>(value, name, 1);
  return {array.data(), static_cast<size_t>(array.size())};
}

std::span<const int64_t> Arrays::offsets(py::handle value, const std::string& name) {
  const auto array = converted<int64_t>(value, name, 1);
  return {array.data(), static_cast<size_t>(array.size())};
}

MatrixView<const int32_t> Arrays::grid(py::handle value, const std::string& name) {
  const auto array = converted<int32_t>(value, name, 2);
  return {array.data(), array.shape(0), array.shape(1)};
}

std::span<const std::pair<int64_t, int64_t>> Arrays::pairs(py::handle value,
                                                           const std::string& name) {
  const auto array = converted<int64_t>(value, name, 2);
  if (array.shape(1) != 2 && array.size() > 0)
    throw InvalidArgument(
        fmt::format("{} has {} columns, must have 2: one pair per row", name, array.shape(1)));
  auto& pairs = pairs_.emplace_back();
  for (py::ssize_t i = 0; i < array.shape(0); ++i)
    pairs.emplace_back(array.at(i, 0), array.at(i, 1));
  return pairs;
}

}  // namespace milieu::python

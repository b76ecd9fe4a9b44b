// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <fmt/format.h>

#include "milieu/base/error.h"

namespace milieu::python {

namespace {

// Groups as compressed rows: a dict of num_samples, offsets, members, weights and group_weights
// (the last two may be None), which the package makes from lists or sparse matrices.
ContextGroups groups_from(const py::dict& given) {
  Arrays arrays;
  ContextGroups groups;
  groups.num_samples = py::cast<int64_t>(given["num_samples"]);
  const auto offsets = arrays.offsets(given["offsets"], "context_groups");
  groups.offsets.assign(offsets.begin(), offsets.end());
  const auto members = arrays.integers(given["members"], "context_groups");
  groups.members.assign(members.begin(), members.end());
  if (const py::object weights = given["weights"]; !weights.is_none()) {
    const auto values = arrays.numbers(weights, "context_groups");
    groups.weights.assign(values.begin(), values.end());
  }
  if (const py::object weights = given["group_weights"]; !weights.is_none()) {
    const auto values = arrays.numbers(weights, "group_weights");
    groups.group_weights.assign(values.begin(), values.end());
  }
  validate_groups(groups);
  return groups;
}

}  // namespace

py::object InputsFromPython::find(const char* name) const {
  return given_.contains(name) ? py::object(given_[name]) : py::none();
}

void InputsFromPython::operator()(const char* name, FloatView& value, const InputRule&,
                                  const char*) {
  if (const py::object given = find(name); !given.is_none()) value = arrays_.floats(given, name);
}

void InputsFromPython::operator()(const char* name, DoubleView& value, const InputRule&,
                                  const char*) {
  if (const py::object given = find(name); !given.is_none()) value = arrays_.doubles(given, name);
}

void InputsFromPython::operator()(const char* name, std::span<const double>& value,
                                  const InputRule&, const char*) {
  if (const py::object given = find(name); !given.is_none()) value = arrays_.numbers(given, name);
}

void InputsFromPython::operator()(const char* name, std::span<const int>& value, const InputRule&,
                                  const char*) {
  if (const py::object given = find(name); !given.is_none()) value = arrays_.integers(given, name);
}

void InputsFromPython::operator()(const char* name,
                                  std::span<const std::pair<int64_t, int64_t>>& value,
                                  const InputRule&, const char*) {
  if (const py::object given = find(name); !given.is_none()) value = arrays_.pairs(given, name);
}

void InputsFromPython::operator()(const char* name, std::vector<FloatView>& value, const InputRule&,
                                  const char*) {
  if (const py::object given = find(name); !given.is_none())
    for (const py::handle view : given)
      value.push_back(arrays_.floats(view, fmt::format("view {}", value.size())));
}

void InputsFromPython::operator()(const char* name, const ContextGroups*& value, const InputRule&,
                                  const char*) {
  const py::object given = find(name);
  if (given.is_none()) return;
  groups_ = std::make_unique<ContextGroups>(groups_from(given));
  value = groups_.get();
}

void InputsFromPython::operator()(const char* name, const ServiceLists*&, const InputRule&,
                                  const char*) {
  const py::object given = find(name);
  if (given.is_none()) return;
  const DoubleView triples = arrays_.doubles(given, name);
  if (triples.cols() != 3)
    throw InvalidArgument(
        fmt::format("{} has {} columns, must have three: row, row that may represent it, cost",
                    name, triples.cols()));
  for (int64_t i = 0; i < triples.rows(); ++i)
    entries_.push_back({static_cast<int>(triples(i, 0)), static_cast<int>(triples(i, 1)),
                        static_cast<float>(triples(i, 2))});
}

}  // namespace milieu::python

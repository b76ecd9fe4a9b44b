// SPDX-License-Identifier: Apache-2.0
// The visitor that fills a method's further inputs (visit_inputs) from Python's keywords.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "milieu/base/inputs.h"
#include "milieu/cac/context_groups.h"
#include "milieu/exemplar/search/service_lists.h"

namespace milieu::python {

// Inputs that are missing from `given` or None stay empty.
class InputsFromPython {
 public:
  InputsFromPython(const py::dict& given, Arrays& arrays) : given_(given), arrays_(arrays) {}

  void operator()(const char* name, FloatView& value, const InputRule& rule, const char*);
  void operator()(const char* name, DoubleView& value, const InputRule& rule, const char*);
  void operator()(const char* name, std::span<const double>& value, const InputRule& rule,
                  const char*);
  void operator()(const char* name, std::span<const int>& value, const InputRule& rule,
                  const char*);
  void operator()(const char* name, std::span<const std::pair<int64_t, int64_t>>& value,
                  const InputRule& rule, const char*);
  void operator()(const char* name, std::vector<FloatView>& value, const InputRule& rule,
                  const char*);
  void operator()(const char* name, const ContextGroups*& value, const InputRule& rule,
                  const char*);
  // Lists need penalties, which are known at the fit: the entries wait for it.
  void operator()(const char* name, const ServiceLists*& value, const InputRule& rule, const char*);

  std::vector<ServiceEntry>& service_entries() { return entries_; }

 private:
  // None when it is not given.
  py::object find(const char* name) const;

  const py::dict& given_;
  Arrays& arrays_;
  std::unique_ptr<ContextGroups> groups_;
  std::vector<ServiceEntry> entries_;
};

}  // namespace milieu::python

// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "milieu/base/error.h"

namespace milieu::python {

namespace {

const char* kind_name(FieldKind kind) {
  switch (kind) {
    case FieldKind::Flag:
      return "bool";
    case FieldKind::Integer:
      return "int";
    case FieldKind::Real:
      return "float";
    case FieldKind::Text:
      return "str";
    case FieldKind::Choice:
      return "choice";
  }
  return "";
}

[[noreturn]] void throw_wrong_type(const Field& field, py::handle given) {
  throw InvalidArgument(
      fmt::format("{} is {}, must be {}", field.name, std::string(py::repr(given)),
                  field.range_text().empty() ? kind_name(field.kind) : field.range_text()));
}

bool is_numpy_bool(py::handle given) {
  return std::string(py::str(py::type::handle_of(given).attr("__name__"))).starts_with("bool");
}

// Numbers of Python and numpy, flags and text; anything else breaks the field's rule.
FieldValue field_value(const Field& field, py::handle given) {
  if (PyBool_Check(given.ptr()) || is_numpy_bool(given)) return py::cast<bool>(given);
  if (PyUnicode_Check(given.ptr())) return py::cast<std::string>(given);
  if (PyFloat_Check(given.ptr())) return py::cast<double>(given);
  if (PyIndex_Check(given.ptr())) {
    const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow == 0) return int64_t{value};
    throw_wrong_type(field, given);
  }
  if (given.is_none() || !py::hasattr(given, "__float__")) throw_wrong_type(field, given);
  const double value = PyFloat_AsDouble(given.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    throw_wrong_type(field, given);
  }
  return value;
}

py::dict field_entry(const Field& field) {
  py::dict entry;
  entry["name"] = field.name;
  entry["python"] = field.python_name();
  entry["flag"] = field.flag();
  entry["kind"] = kind_name(field.kind);
  entry["default"] = to_python(field.get());
  entry["range"] = field.range_text();
  entry["choices"] = field.choices;
  entry["help"] = field.help;
  entry["advanced"] = field.rule.is_advanced;
  entry["word"] = field.rule.word;
  return entry;
}

py::object to_python(const SummaryValue& value) {
  return std::visit([](const auto& v) -> py::object { return py::cast(v); }, value);
}

}  // namespace

void set_options(const std::vector<Field>& fields, const py::dict& given) {
  for (const auto& [key, value] : given) {
    const auto name = py::cast<std::string>(key);
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const Field& field) { return field.name == name; });
    if (found == fields.end()) throw InvalidArgument(fmt::format("there is no option {}", name));
    found->set(field_value(*found, value));
  }
  validate_fields(fields);
}

py::object to_python(const FieldValue& value) {
  return std::visit([](const auto& v) -> py::object { return py::cast(v); }, value);
}

py::dict to_python(const RunSummary& summary) {
  py::dict entry;
  entry["method"] = summary.method;
  entry["version"] = summary.version;
  entry["seed"] = summary.seed;
  entry["termination"] = to_string(summary.termination);
  entry["message"] = summary.message;
  entry["objective"] = summary.objective;
  entry["iterations"] = summary.iterations;
  entry["restart"] = summary.restart;
  entry["num_restarts"] = summary.num_restarts;
  entry["seconds"] = summary.seconds;
  entry["n"] = summary.n;
  entry["d"] = summary.d;
  entry["clusters"] = summary.clusters;
  entry["sizes"] = summary.sizes;
  entry["warnings"] = summary.warnings;
  entry["trace"] = summary.trace;
  for (const auto& [name, value] : summary.extra) entry[py::str(name)] = to_python(value);
  return entry;
}

py::dict declaration(const std::vector<Field>& fields, const std::vector<InputField>& inputs) {
  py::list field_list, input_list;
  for (const Field& field : fields)
    if (field.rule.deprecated.empty()) field_list.append(field_entry(field));
  for (const InputField& input : inputs) {
    py::dict entry;
    entry["name"] = input.name;
    entry["python"] = input.python_name();
    entry["flag"] = input.flag();
    entry["kind"] = describe(input.rule.kind);
    entry["shape"] = input.rule.shape;
    entry["help"] = input.help;
    input_list.append(entry);
  }
  py::dict entry;
  entry["fields"] = field_list;
  entry["inputs"] = input_list;
  return entry;
}

}  // namespace milieu::python

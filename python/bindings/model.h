// SPDX-License-Identifier: Apache-2.0
// A model as a Python object: its arrays by name (visit_arrays), and its bytes, which are those of
// model.safetensors. Immutable.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "arrays.h"
#include "milieu/store/model_file.h"

namespace milieu::python {

// Puts a model's arrays into a dict: read-only views of the model's memory, and plain scalars.
class ArraysToPython {
 public:
  ArraysToPython(py::dict& out, py::handle owner) : out_(out), owner_(owner) {}

  template <class T>
  void operator()(const char* name, const Matrix<T>& value) {
    out_[name] = read_only_array<T>({value.rows(), value.cols()}, value.data(), owner_);
  }
  template <class T>
  void operator()(const char* name, const std::vector<T>& value) {
    out_[name] = read_only_array<T>({static_cast<py::ssize_t>(value.size())}, value.data(), owner_);
  }
  template <class T>
  requires std::is_arithmetic_v<T> || std::same_as<T, std::string>
  void operator()(const char* name, const T& value) { out_[name] = value; }

 private:
  py::dict& out_;
  py::handle owner_;
};

template <class Model>
Model model_from_bytes(const py::bytes& bytes) {
  const std::string_view text = bytes;
  const std::span<const std::byte> data(reinterpret_cast<const std::byte*>(text.data()),
                                        text.size());
  return from_model_file<Model>(parse_model_file(data, "the pickled model"), "the pickled model");
}

template <class Model>
py::bytes model_to_bytes(const Model& model, const std::string& options_json) {
  return py::bytes(model_file_bytes(to_model_file(model, options_json)));
}

template <class Model>
py::class_<Model, std::shared_ptr<Model>> bind_model(py::module_& m, const char* name) {
  using Class = py::class_<Model, std::shared_ptr<Model>>;
  return Class(m, name)
      .def_property_readonly_static("kind", [](py::object) { return std::string(Model::kKind); })
      .def("arrays",
           [](py::object self) {
             py::dict out;
             const Model& model = py::cast<const Model&>(self);
             visit_arrays(model, ArraysToPython(out, self));
             return out;
           })
      .def("to_bytes", &model_to_bytes<Model>, py::arg("options_json") = "")
      .def_static("from_bytes", &model_from_bytes<Model>)
      .def(py::pickle([](const Model& model) { return model_to_bytes(model, ""); },
                      [](const py::bytes& bytes) { return model_from_bytes<Model>(bytes); }));
}

}  // namespace milieu::python

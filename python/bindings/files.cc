// SPDX-License-Identifier: Apache-2.0
// What loading a run folder needs beside the models themselves.
#include "arrays.h"
#include "milieu/store/columns.h"
#include "milieu/store/model_file.h"
#include "modules.h"

namespace milieu::python {

namespace {

// The kind of the model in a file's bytes; `source` names it in messages.
std::string model_kind(const py::bytes& bytes, const std::string& source) {
  const std::string_view text = bytes;
  return parse_model_file({reinterpret_cast<const std::byte*>(text.data()), text.size()}, source)
      .kind;
}

py::dict columns_of(const std::string& path) {
  py::dict out;
  for (const Column& column : read_columns(path))
    std::visit(
        [&](const auto& values) {
          using T = typename std::decay_t<decltype(values)>::value_type;
          py::array_t<T> array({column.num_rows(), column.width});
          std::copy(values.begin(), values.end(), array.mutable_data());
          out[py::str(column.name)] = array;
        },
        column.values);
  return out;
}

}  // namespace

void bind_files(py::module_& m) {
  m.def("model_kind", &model_kind);
  m.def("read_columns", &columns_of);
}

}  // namespace milieu::python

// SPDX-License-Identifier: Apache-2.0
// Options and declarations between Python and the library's fields.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "milieu/base/fields.h"
#include "milieu/base/inputs.h"
#include "milieu/base/summary.h"

namespace milieu::python {

namespace py = pybind11;

// Sets the fields named in `given` (by the library's names) and checks all ranges.
void set_options(const std::vector<Field>& fields, const py::dict& given);

py::object to_python(const FieldValue& value);
py::dict to_python(const RunSummary& summary);

// One method as the generator of the estimators and the name maps see it: fields with name, Python
// name, kind, default, range, choices and help; inputs with name, Python name, kind, shape, help.
py::dict declaration(const std::vector<Field>& fields, const std::vector<InputField>& inputs);

}  // namespace milieu::python

// SPDX-License-Identifier: Apache-2.0
#include "milieu/cac/cac.h"

#include <pybind11/stl.h>

#include "method.h"
#include "modules.h"

namespace milieu::python {

namespace {

// X is one matrix, or None when the views are among the inputs.
void take_samples(CacInput& input, py::handle X, Arrays& arrays) {
  if (!X.is_none()) input.views.push_back(arrays.floats(X, "X"));
}

py::dict fit(py::handle X, const py::dict& options, const py::dict& inputs,
             const py::dict& control) {
  const auto values = options_from<CacOptions>(options);
  Arrays arrays;
  CacInput input;
  InputsFromPython given(inputs, arrays);
  visit_inputs(input, given);
  take_samples(input, X, arrays);
  CacResult result =
      run_fit(control, [&](Monitor& monitor) { return fit_cac(input, values, monitor); });
  py::dict out = result_to_python(result);
  out["words"] = to_array(std::move(result.words));
  out["phrases"] = to_array(std::move(result.phrases));
  return out;
}

py::dict predict_in_context(const CacModel& model, py::handle X, const py::dict& inputs,
                            int num_threads) {
  Arrays arrays;
  CacInput input;
  InputsFromPython given(inputs, arrays);
  visit_inputs(input, given);
  take_samples(input, X, arrays);
  CacPrediction prediction;
  {
    const py::gil_scoped_release release;
    prediction = predict_groups(model, input, usable_threads(num_threads));
  }
  py::dict out;
  out["labels"] = to_array(std::move(prediction.labels));
  out["words"] = to_array(std::move(prediction.words));
  out["phrases"] = to_array(std::move(prediction.phrases));
  return out;
}

}  // namespace

void bind_cac(py::module_& m) {
  bind_model<CacModel>(m, "cac_model");
  bind_declaration<CacOptions, CacInput>(m, "cac");
  m.def("cac_fit", &fit);
  bind_predict<CacModel>(m, "cac");
  m.def("cac_phrases", &describe_phrases);
  m.def("cac_predict_groups", &predict_in_context);
}

}  // namespace milieu::python

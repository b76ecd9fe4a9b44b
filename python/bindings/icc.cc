// SPDX-License-Identifier: Apache-2.0
#include "milieu/icc/icc.h"

#include "method.h"
#include "milieu/icc/advise/icc_advise.h"
#include "milieu/icc/icc_classifier.h"
#include "modules.h"

namespace milieu::python {

namespace {

py::dict fit(py::handle X, const py::dict& options, const py::dict& inputs,
             const py::dict& control) {
  const auto values = options_from<IccOptions>(options);
  Arrays arrays;
  IccInput input;
  visit_inputs(input, InputsFromPython(inputs, arrays));
  input.points = arrays.floats(X, "X");
  if (inputs.contains("classes")) input.classes = arrays.integers(inputs["classes"], "y");
  IccResult result =
      run_fit(control, [&](Monitor& monitor) { return fit_icc(input, values, monitor); });
  return result_to_python(result);
}

py::dict fit_classifier(py::handle X, const py::dict& options, const py::dict& inputs,
                        const py::dict& control) {
  const auto values = options_from<IccClassifierOptions>(options);
  Arrays arrays;
  IccClassifierInput input;
  input.points = arrays.floats(X, "X");
  input.classes = arrays.integers(inputs["classes"], "y");
  if (inputs.contains("groups")) input.groups = arrays.integers(inputs["groups"], "groups");
  IccClassifierResult result = run_fit(
      control, [&](Monitor& monitor) { return fit_icc_classifier(input, values, monitor); });
  py::dict out = result_to_python(result);
  out["subclass_labels"] = to_array(std::move(result.subclasses));
  return out;
}

py::dict advise(py::handle X, py::handle y, const py::dict& options, const py::dict& control) {
  const auto values = options_from<IccAdviseOptions>(options);
  Arrays arrays;
  const IccAdviseInput input{arrays.floats(X, "X"), arrays.integers(y, "y")};
  IccAdvice advice =
      run_fit(control, [&](Monitor& monitor) { return advise_icc(input, values, monitor); });
  py::dict out;
  out["labels"] = to_array(std::move(advice.labels));
  out["summary"] = to_python(advice.summary);
  return out;
}

// Sub-classes of rows; classes may be None.
py::array predict_subclasses(const IccModel& model, py::handle X, py::handle classes,
                             int num_threads) {
  Arrays arrays;
  const FloatView points = arrays.floats(X, "X");
  const std::span<const int> known =
      classes.is_none() ? std::span<const int>() : arrays.integers(classes, "y");
  std::vector<int> labels;
  {
    const py::gil_scoped_release release;
    labels = predict(model, points, known, usable_threads(num_threads));
  }
  return to_array(std::move(labels));
}

template <class Model>
void bind_projection(py::module_& m, const char* name) {
  m.def(name, [](const Model& model, py::handle X) {
    Arrays arrays;
    const FloatView points = arrays.floats(X, "X");
    Matrix<double> values;
    {
      const py::gil_scoped_release release;
      values = project(model, points);
    }
    return to_array(std::move(values));
  });
}

}  // namespace

void bind_icc(py::module_& m) {
  bind_model<IccModel>(m, "icc_model");
  bind_declaration<IccOptions, IccInput>(m, "icc");
  m.def("icc_fit", &fit);
  m.def("icc_advise", &advise);
  m.def("icc_predict", &predict_subclasses);
  bind_projection<IccModel>(m, "icc_project");

  bind_model<IccClassifierModel>(m, "icc_classifier_model");
  bind_declaration<IccClassifierOptions, IccClassifierInput>(m, "icc_classifier");
  m.def("icc_classifier_fit", &fit_classifier);
  bind_predict<IccClassifierModel>(m, "icc_classifier");
  bind_rows_function<IccClassifierModel>(m, "icc_classifier_probabilities", &predict_probabilities);
  bind_projection<IccClassifierModel>(m, "icc_classifier_project");
}

}  // namespace milieu::python

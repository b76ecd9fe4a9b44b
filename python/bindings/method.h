// SPDX-License-Identifier: Apache-2.0
// One method for Python from its fit function alone:
//
//   bind_method<fit_kmeans>(m, "kmeans");
//
// makes the model class `kmeans_model`, `kmeans_fit(X, options, inputs, control)`, the declaration
// of its fields and inputs and, where the library predicts rows, `kmeans_predict(model, X,
// threads)`.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "arrays.h"
#include "inputs.h"
#include "milieu/base/fields.h"
#include "milieu/base/job/restart_range.h"
#include "milieu/base/monitor.h"
#include "model.h"
#include "options.h"
#include "work.h"

namespace milieu::python {

template <class Function>
struct FitTypes;
template <class R, class I, class O>
struct FitTypes<R (*)(const I&, const O&, Monitor&)> {
  using Result = R;
  using Input = I;
  using Options = O;
};

// The field of this name, set to the threads that may be used here.
inline void limit_threads(const std::vector<Field>& fields) {
  for (const Field& field : fields)
    if (field.name == "num_threads")
      field.set(int64_t{usable_threads(static_cast<int>(std::get<int64_t>(field.get())))});
}

template <class Options>
Options options_from(const py::dict& given) {
  Options options;
  const std::vector<Field> fields = fields_of(options);
  set_options(fields, given);
  limit_threads(fields);
  return options;
}

// labels, model and summary of any result.
template <class Result>
py::dict result_to_python(Result& result) {
  py::dict out;
  out["labels"] = to_array(std::move(result.labels));
  out["summary"] = to_python(result.summary);
  if constexpr (requires { result.probabilities.view(); })
    out["probabilities"] = to_array(std::move(result.probabilities));
  if constexpr (requires { result.proportions.view(); })
    out["probabilities"] = to_array(std::move(result.proportions));
  if constexpr (requires { result.margins.data(); })
    out["margins"] = to_array(std::move(result.margins));
  using Model = decltype(result.model);
  out["model"] = py::cast(std::make_shared<Model>(std::move(result.model)));
  return out;
}

// Options that can run one restart of all, for work in shards.
template <class Options>
concept HasRestarts = requires(Options options) {
  options.restart_range;
};

// Calls `fit(monitor)` as run_work does and gives its result.
template <class Fit>
auto run_fit(const py::dict& control, Fit&& fit) {
  std::optional<decltype(fit(silent_monitor()))> result;
  run_work(control_from(control), [&](Monitor& monitor) { result.emplace(fit(monitor)); });
  return std::move(*result);
}

template <class Input>
void set_samples(Input& input, FloatView points) {
  if constexpr (requires { input.counts; })
    input.counts = points;
  else
    input.points = points;
}

template <class Options, class Input>
void bind_declaration(py::module_& m, const char* name) {
  Options defaults;
  py::dict declarations = m.attr("declarations");
  declarations[name] = declaration(fields_of(defaults), inputs_of<Input>());
  if constexpr (HasRestarts<Options>)
    declarations[name]["best_restart"] =
        Options::kRestartChoice == RestartChoice::LowestObjective ? "lowest" : "highest";
}

template <class Model>
void bind_predict(py::module_& m, const std::string& name) {
  m.def((name + "_predict").c_str(), [](const Model& model, py::handle X, int num_threads) {
    Arrays arrays;
    const FloatView points = arrays.floats(X, "X");
    std::vector<int> labels;
    {
      const py::gil_scoped_release release;
      labels = predict(model, points, usable_threads(num_threads));
    }
    return to_array(std::move(labels));
  });
}

// A function of a model and rows that gives a matrix: probabilities, decisions, projections.
template <class Model, class T>
void bind_rows_function(py::module_& m, const char* name,
                        Matrix<T> (*function)(const Model&, FloatView, int)) {
  m.def(name, [function](const Model& model, py::handle X, int num_threads) {
    Arrays arrays;
    const FloatView points = arrays.floats(X, "X");
    Matrix<T> values;
    {
      const py::gil_scoped_release release;
      values = function(model, points, usable_threads(num_threads));
    }
    return to_array(std::move(values));
  });
}

template <auto kFit>
void bind_method(py::module_& m, const std::string& name) {
  using Types = FitTypes<decltype(kFit)>;
  using Model = decltype(Types::Result::model);
  bind_model<Model>(m, (name + "_model").c_str());
  bind_declaration<typename Types::Options, typename Types::Input>(m, name.c_str());
  m.def((name + "_fit").c_str(), [](py::handle X, const py::dict& options, const py::dict& inputs,
                                    const py::dict& control) {
    auto values = options_from<typename Types::Options>(options);
    if constexpr (HasRestarts<typename Types::Options>)
      if (control.contains("restart")) values.restart_range = {control["restart"].cast<int>(), 1};
    Arrays arrays;
    typename Types::Input input;
    InputsFromPython given(inputs, arrays);
    if constexpr (requires { visit_inputs(input, given); }) visit_inputs(input, given);
    set_samples(input, arrays.floats(X, "X"));
    auto result = run_fit(control, [&](Monitor& monitor) { return kFit(input, values, monitor); });
    return result_to_python(result);
  });
  if constexpr (requires(const Model& model) { predict(model, FloatView(), 0); })
    bind_predict<Model>(m, name);
}

}  // namespace milieu::python

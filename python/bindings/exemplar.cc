// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/search/exemplar.h"

#include <pybind11/stl.h>

#include "method.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/exemplar/search/kmedoids.h"
#include "modules.h"

namespace milieu::python {

namespace {

py::dict to_python(ExemplarResult& result) {
  py::dict out = result_to_python(result);
  out["energy"] = result.energy;
  out["lower_bound"] = result.lower_bound;
  out["gap"] = result.gap;
  return out;
}

py::dict fit(py::handle X, const py::dict& options, const py::dict& inputs,
             const py::dict& control) {
  const auto values = options_from<ExemplarOptions>(options);
  Arrays arrays;
  ExemplarInput input;
  InputsFromPython given(inputs, arrays);
  visit_inputs(input, given);
  const FloatView points = arrays.floats(X, "X");
  ServiceLists lists;
  if (!given.service_entries().empty()) {
    lists = lists_with_penalty(points.rows(), std::move(given.service_entries()), input.penalties,
                               values.penalty);
    input = {};
    input.lists = &lists;
  } else {
    input.points = points;
  }
  ExemplarResult result =
      run_fit(control, [&](Monitor& monitor) { return fit_exemplar(input, values, monitor); });
  return to_python(result);
}

// Exemplars under a learned distance.
py::dict fit_with(const LearnedDistance& model, py::handle X, const py::dict& options,
                  const py::dict& control) {
  const auto values = options_from<ExemplarOptions>(options);
  Arrays arrays;
  const FloatView points = arrays.floats(X, "X");
  ExemplarResult result = run_fit(control, [&](Monitor& monitor) {
    return fit_learned_exemplar(model, points, values, monitor);
  });
  return to_python(result);
}

// Each set is a pair (points, labels); labels are numbered from 0 without gaps.
py::dict learn(const py::list& sets, const py::dict& options, const std::vector<std::string>& names,
               const py::dict& control) {
  const auto values = options_from<ExemplarLearnOptions>(options);
  Arrays arrays;
  LearnInput input;
  input.names = names;
  for (const py::handle set : sets) {
    const auto pair = py::cast<py::tuple>(set);
    const std::span<const int> labels = arrays.integers(pair[1], "y");
    input.sets.push_back(
        {.points = arrays.floats(pair[0], "X"), .labels = {labels.begin(), labels.end()}});
  }
  ExemplarLearnResult result = run_fit(
      control, [&](Monitor& monitor) { return learn_exemplar_distance(input, values, monitor); });
  py::dict out;
  out["summary"] = python::to_python(result.summary);
  out["shares"] = to_array(std::move(result.shares));
  out["model"] = py::cast(std::make_shared<LearnedDistance>(std::move(result.model)));
  return out;
}

}  // namespace

void bind_exemplar(py::module_& m) {
  bind_method<fit_kmedoids>(m, "kmedoids");
  bind_model<ExemplarModel>(m, "exemplar_model");
  bind_declaration<ExemplarOptions, ExemplarInput>(m, "exemplar");
  m.def("exemplar_fit", &fit);
  bind_predict<ExemplarModel>(m, "exemplar");

  bind_model<LearnedDistance>(m, "exemplar_learn_model");
  bind_declaration<ExemplarLearnOptions, LearnInput>(m, "exemplar_learn");
  m.def("exemplar_learn_fit", &learn);
  m.def("exemplar_fit_learned", &fit_with);
  m.def("exemplar_learn_transform", [](const LearnedDistance& model, py::handle X) {
    Arrays arrays;
    return to_array(apply_weights(model, arrays.floats(X, "X")));
  });
  m.def("exemplar_learn_costs",
        [](const LearnedDistance& model, py::handle a, py::handle b, int num_threads) {
          Arrays arrays;
          const FloatView first = arrays.floats(a, "X"), second = arrays.floats(b, "Y");
          Matrix<float> costs;
          {
            const py::gil_scoped_release release;
            costs = learned_costs(model, first, second, usable_threads(num_threads));
          }
          return to_array(std::move(costs));
        });
}

}  // namespace milieu::python

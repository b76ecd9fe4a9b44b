// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/search/exemplar.h"

#include <pybind11/stl.h>

#include "crf_callbacks.h"
#include "method.h"
#include "milieu/base/error.h"
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
                  const py::dict& inputs, const py::dict& control) {
  const auto values = options_from<ExemplarOptions>(options);
  Arrays arrays;
  ExemplarInput input;
  InputsFromPython given(inputs, arrays);
  visit_inputs(input, given);
  const FloatView points = arrays.floats(X, "X");
  ExemplarResult result = run_fit(control, [&](Monitor& monitor) {
    return fit_learned_exemplar(model, points, values, monitor,
                                {input.exemplar_features, input.penalties});
  });
  return to_python(result);
}

Distance distance_named(const std::string& name) {
  for (const auto& [word, distance] : distance_choices().choices)
    if (word == name) return distance;
  throw InvalidArgument("candidates name the distance '" + name + "', which does not exist");
}

// Each is (first column, end, name of the distance, gamma).
std::vector<CandidateDistance> candidates_from(const py::list& given) {
  std::vector<CandidateDistance> candidates;
  for (const py::handle entry : given) {
    const auto tuple = py::cast<py::tuple>(entry);
    const auto first = py::cast<int64_t>(tuple[0]), end = py::cast<int64_t>(tuple[1]);
    const auto name = py::cast<std::string>(tuple[2]);
    candidates.push_back(
        {"columns " + std::to_string(first) + " to " + std::to_string(end - 1) + " " + name,
         distance_named(name), py::cast<double>(tuple[3]), first, end - first});
  }
  return candidates;
}

// Each set is (points, labels, features of exemplars or None); labels are numbered from 0 without
// gaps.
py::dict learn(const py::list& sets, const py::dict& options, const std::vector<std::string>& names,
               const py::dict& more, const py::dict& control) {
  const auto values = options_from<ExemplarLearnOptions>(options);
  Arrays arrays;
  LearnInput input;
  input.names = names;
  for (const py::handle set : sets) {
    const auto each = py::cast<py::tuple>(set);
    const std::span<const int> labels = arrays.integers(each[1], "y");
    input.sets.push_back(
        {.points = arrays.floats(each[0], "X"), .labels = {labels.begin(), labels.end()}});
    if (!each[2].is_none())
      input.sets.back().exemplar_features = arrays.floats(each[2], "exemplar_features");
  }
  input.candidates = candidates_from(more["candidates"]);
  input.exemplar_columns = py::cast<std::vector<int64_t>>(more["exemplar_columns"]);
  input.price = price_from(more["regularizer_function"]);
  input.project = projection_from(more["projection_function"]);
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

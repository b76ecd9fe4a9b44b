// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/dcp.h"

#include <pybind11/stl.h>

#include "method.h"
#include "milieu/dcp/dcp_rank.h"
#include "milieu/dcp/dcp_vote.h"
#include "modules.h"

namespace milieu::python {

namespace {

py::dict fit(py::handle X, const py::dict& options, const py::dict& inputs,
             const py::dict& control) {
  const auto values = options_from<DcpOptions>(options);
  Arrays arrays;
  DcpInput input;
  visit_inputs(input, InputsFromPython(inputs, arrays));
  input.points = arrays.floats(X, "X");
  DcpResult result =
      run_fit(control, [&](Monitor& monitor) { return fit_dcp(input, values, monitor); });
  py::dict out = result_to_python(result);
  out["decisions"] = to_array(std::move(result.decisions));
  if (result.floor < 0) out["gain"] = result.gain;
  out["separation"] = result.separation;
  out["confidence"] = result.confidence;
  out["gap"] = result.gap;
  out["agreement"] = result.agreement;
  out["restart_objectives"] = to_array(std::move(result.restart_objectives));
  return out;
}

py::dict to_python(const DcpRankedContext& context) {
  py::dict entry;
  entry["name"] = context.split.name;
  entry["consensus"] = context.consensus;
  entry["is_outlier_split"] = context.is_outlier_split;
  entry["stability"] = context.split.stability;
  entry["match"] = context.match;
  entry["separation"] = context.split.separation;
  entry["confidence"] = context.split.confidence;
  entry["agreement"] = context.split.agreement;
  entry["objective"] = context.split.objective;
  entry["seconds"] = context.split.seconds;
  entry["labels"] = to_array(std::vector<int>(context.split.labels));
  return entry;
}

// Contexts best first, as a list of dicts, and why the ranking ended. `samples` has the rows of X
// for each context where the kernel is precomputed, and is empty otherwise.
py::dict rank(py::handle X, const py::dict& contexts, const py::dict& samples,
              const py::dict& options, const py::dict& inputs, const py::dict& control) {
  const auto values = options_from<DcpOptions>(options);
  Arrays arrays;
  DcpInput input;
  visit_inputs(input, InputsFromPython(inputs, arrays));
  input.points = arrays.floats(X, "X");
  std::vector<DcpContext> candidates;
  for (const auto& [name, rows] : contexts) {
    const std::string called = "context " + std::string(py::repr(name));
    candidates.push_back({py::cast<std::string>(py::str(name)), arrays.floats(rows, called)});
    if (samples.contains(name)) candidates.back().samples = arrays.floats(samples[name], called);
  }
  const DcpRanking ranking = run_fit(
      control, [&](Monitor& monitor) { return rank_contexts(input, candidates, values, monitor); });
  py::list ranked;
  for (const DcpRankedContext& context : ranking.contexts) ranked.append(to_python(context));
  py::dict out;
  out["contexts"] = ranked;
  out["termination"] = to_string(ranking.termination);
  return out;
}

py::tuple vote(const std::vector<std::vector<int>>& splits, int num_parts) {
  DcpVote elected = vote_on_parts(splits, num_parts);
  return py::make_tuple(py::array_t<int>(py::cast(elected.labels)),
                        py::array_t<double>(py::cast(elected.agreement)));
}

}  // namespace

void bind_dcp(py::module_& m) {
  bind_model<DcpModel>(m, "dcp_model");
  bind_declaration<DcpOptions, DcpInput>(m, "dcp");
  m.def("dcp_fit", &fit);
  bind_predict<DcpModel>(m, "dcp");
  bind_rows_function<DcpModel>(m, "dcp_decisions", &decision_values);
  m.def("dcp_rank", &rank);
  m.def("dcp_vote", &vote);
}

}  // namespace milieu::python

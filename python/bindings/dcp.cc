// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/dcp.h"

#include <pybind11/stl.h>

#include <map>

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

py::dict to_python(const DcpContextSplit& split) {
  py::dict entry;
  entry["name"] = split.name;
  entry["stability"] = split.stability;
  entry["separation"] = split.separation;
  entry["confidence"] = split.confidence;
  entry["agreement"] = split.agreement;
  entry["objective"] = split.objective;
  entry["seconds"] = split.seconds;
  entry["labels"] = to_array(std::vector<int>(split.labels));
  return entry;
}

py::dict to_python(const DcpRankedContext& context) {
  py::dict entry = to_python(context.split);
  entry["consensus"] = context.consensus;
  entry["is_outlier_split"] = context.is_outlier_split;
  entry["match"] = context.match;
  return entry;
}

DcpContextSplit split_from(const py::handle& entry) {
  const auto number = [&](const char* name) { return py::cast<double>(entry[name]); };
  DcpContextSplit split;
  split.name = py::cast<std::string>(entry["name"]);
  split.labels = py::cast<std::vector<int>>(entry["labels"]);
  split.objective = number("objective");
  split.separation = number("separation");
  split.confidence = number("confidence");
  split.agreement = number("agreement");
  split.stability = number("stability");
  split.seconds = number("seconds");
  return split;
}

// What a ranking is given, with the memory it lives in.
struct RankingInput {
  Arrays arrays;
  DcpOptions options;
  DcpInput input;
  std::vector<DcpContext> contexts;
};

// `samples` has the rows of X for each context where the kernel is precomputed, and is empty
// otherwise.
void read_ranking(RankingInput& ranking, py::handle X, const py::dict& contexts,
                  const py::dict& samples, const py::dict& options, const py::dict& inputs) {
  Arrays& arrays = ranking.arrays;
  ranking.options = options_from<DcpOptions>(options);
  visit_inputs(ranking.input, InputsFromPython(inputs, arrays));
  ranking.input.points = arrays.floats(X, "X");
  for (const auto& [name, rows] : contexts) {
    const std::string called = "context " + std::string(py::repr(name));
    DcpContext context{py::cast<std::string>(py::str(name)), arrays.floats(rows, called)};
    if (samples.contains(name)) context.samples = arrays.floats(samples[name], called);
    ranking.contexts.push_back(context);
  }
}

// The splits by some of the contexts of a ranking, in their order.
py::list split(py::handle X, const py::dict& contexts, const py::dict& samples,
               const py::dict& options, const py::dict& inputs, const py::dict& control) {
  RankingInput given;
  read_ranking(given, X, contexts, samples, options, inputs);
  const std::vector<DcpContextSplit> splits = run_fit(control, [&](Monitor& monitor) {
    return split_by_contexts(given.input, given.contexts, given.options, monitor);
  });
  py::list out;
  for (const DcpContextSplit& one : splits) out.append(to_python(one));
  return out;
}

// Contexts best first, as a list of dicts, and why the ranking ended. `known` has the splits
// of contexts that need no fit.
py::dict rank(py::handle X, const py::dict& contexts, const py::dict& samples,
              const py::dict& options, const py::dict& inputs, const py::list& known,
              const py::dict& control) {
  RankingInput given;
  read_ranking(given, X, contexts, samples, options, inputs);
  std::map<std::string, DcpContextSplit> splits;
  for (const py::handle entry : known) {
    DcpContextSplit one = split_from(entry);
    splits.insert_or_assign(one.name, std::move(one));
  }
  DcpRankHooks hooks;
  hooks.find_known = [&](const std::string& name) {
    const auto found = splits.find(name);
    return found == splits.end() ? nullptr : &found->second;
  };
  const DcpRanking ranking = run_fit(control, [&](Monitor& monitor) {
    return rank_contexts(given.input, given.contexts, given.options, monitor, hooks);
  });
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
  m.def("dcp_split", &split);
  m.def("dcp_rank", &rank);
  m.def("dcp_vote", &vote);
}

}  // namespace milieu::python

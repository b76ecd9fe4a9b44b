// SPDX-License-Identifier: Apache-2.0
#include "run_outcome.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <set>

#include "arrays.h"
#include "milieu/base/error.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/icc/icc_classifier.h"
#include "milieu/metrics/metrics.h"
#include "milieu/run/methods.h"
#include "milieu/run/run_options.h"
#include "options.h"

namespace milieu::python {

namespace {

// What holds the options of a method while its fields are used.
struct OptionsHolder {
  std::unique_ptr<Method> method;
  IccClassifierOptions classifier;
  ExemplarLearnOptions learn;

  std::vector<Field> fields(const std::string& name) {
    if (name == "icc classify") return fields_of(classifier);
    if (name == "exemplar learn") return fields_of(learn);
    const MethodEntry* entry = find_method(name);
    if (!entry) throw InvalidArgument(fmt::format("there is no method '{}'", name));
    method = entry->make();
    return method->option_fields();
  }
};

Termination termination_from_text(const std::string& text) {
  for (const Termination value :
       {Termination::Converged, Termination::IterationLimit, Termination::TimeLimit,
        Termination::Cancelled, Termination::NumericalIssue})
    if (text == to_string(value)) return value;
  throw InvalidArgument(
      fmt::format("termination is '{}', must be Converged, IterationLimit, "
                  "TimeLimit, Cancelled or NumericalIssue",
                  text));
}

SummaryValue summary_value(py::handle value) {
  if (PyBool_Check(value.ptr())) return py::cast<bool>(value);
  if (PyLong_Check(value.ptr())) return py::cast<int64_t>(value);
  if (PyFloat_Check(value.ptr())) return py::cast<double>(value);
  if (PyUnicode_Check(value.ptr())) return py::cast<std::string>(value);
  const auto list = py::cast<py::list>(value);
  if (!list.empty() && PyUnicode_Check(list[0].ptr()))
    return py::cast<std::vector<std::string>>(value);
  const bool is_whole = std::all_of(list.begin(), list.end(),
                                    [](py::handle v) { return PyLong_Check(v.ptr()) != 0; });
  if (is_whole && !list.empty()) return py::cast<std::vector<int64_t>>(value);
  return py::cast<std::vector<double>>(value);
}

// The inverse of to_python(RunSummary) in options.cc.
RunSummary summary_from(const py::dict& given) {
  static const std::set<std::string> kOwn = {
      "method",     "version", "seed",         "termination", "message", "objective",
      "iterations", "restart", "num_restarts", "seconds",     "n",       "d",
      "clusters",   "sizes",   "warnings",     "trace",       "metrics", "part_names"};
  RunSummary s;
  s.method = py::cast<std::string>(given["method"]);
  s.version = py::cast<std::string>(given["version"]);
  s.seed = py::cast<uint64_t>(given["seed"]);
  s.termination = termination_from_text(py::cast<std::string>(given["termination"]));
  s.message = py::cast<std::string>(given["message"]);
  s.objective = py::cast<double>(given["objective"]);
  s.iterations = py::cast<int>(given["iterations"]);
  s.restart = py::cast<int>(given["restart"]);
  s.num_restarts = py::cast<int>(given["num_restarts"]);
  s.seconds = py::cast<double>(given["seconds"]);
  s.n = py::cast<int64_t>(given["n"]);
  s.d = py::cast<int64_t>(given["d"]);
  s.clusters = py::cast<int>(given["clusters"]);
  s.sizes = py::cast<std::vector<int64_t>>(given["sizes"]);
  s.warnings = py::cast<std::vector<std::string>>(given["warnings"]);
  s.trace = py::cast<std::vector<double>>(given["trace"]);
  for (const auto& [key, value] : given) {
    const auto name = py::cast<std::string>(key);
    if (!kOwn.contains(name)) s.extra.emplace_back(name, summary_value(value));
  }
  return s;
}

std::vector<NamedLabel> labels_from(const py::dict& part, const char* key) {
  std::vector<NamedLabel> labels;
  if (!part.contains(key)) return labels;
  for (const py::handle entry : py::cast<py::list>(part[key])) {
    const auto given = py::cast<py::dict>(entry);
    NamedLabel label;
    label.label = py::cast<int>(given["label"]);
    label.name = py::cast<std::string>(given["name"]);
    label.sure = py::cast<double>(given["sure"]);
    label.mean = py::cast<double>(given["mean"]);
    label.lead = py::cast<double>(given["lead"]);
    label.p = py::cast<double>(given["p"]);
    labels.push_back(std::move(label));
  }
  return labels;
}

// Of summary.json.
std::vector<PartNames> part_names_from(const py::dict& summary) {
  std::vector<PartNames> names;
  if (!summary.contains("part_names")) return names;
  for (const py::handle entry : py::cast<py::list>(summary["part_names"])) {
    const auto part = py::cast<py::dict>(entry);
    names.push_back({labels_from(part, "labels"), labels_from(part, "exemplar")});
  }
  return names;
}

std::vector<Column> columns_from(const py::dict& given) {
  std::vector<Column> columns;
  for (const auto& [key, value] : given) {
    const auto name = py::cast<std::string>(key);
    auto array = py::cast<py::array>(value);
    if (array.dtype().kind() == 'i') {
      const auto whole = py::array_t<int32_t, py::array::c_style | py::array::forcecast>(array);
      columns.push_back(whole_column(name, {whole.data(), whole.data() + whole.size()}));
      continue;
    }
    const auto reals = py::array_t<float, py::array::c_style | py::array::forcecast>(array);
    columns.push_back(real_column(name, {reals.data(), reals.data() + reals.size()},
                                  reals.ndim() == 2 ? reals.shape(1) : 1));
  }
  return columns;
}

Dataset samples_from(const py::dict& run) {
  Dataset data;
  data.source = "arrays in Python";
  if (const py::object points = run["points"]; !points.is_none()) {
    Arrays arrays;
    data.points = Points(Matrix<float>(arrays.floats(points, "X")));
    data.sample_shape = {data.points.cols()};
    data.total_rows = data.points.rows();
  }
  if (const py::object names = run["names"]; !names.is_none())
    data.sample_names = py::cast<std::vector<std::string>>(names);
  return data;
}

ModelFile model_from(const py::bytes& bytes) {
  const std::string_view text = bytes;
  return parse_model_file({reinterpret_cast<const std::byte*>(text.data()), text.size()},
                          "the estimator's model");
}

}  // namespace

RunOutcome outcome_from(const py::dict& run) {
  const auto method = py::cast<std::string>(run["method"]);
  const auto holder = std::make_shared<OptionsHolder>();
  std::vector<Field> fields = holder->fields(method);
  set_options(fields, run["options"]);
  RunOutcome out;
  out.options_json = run_options_to_json(method, {}, fields);
  std::erase_if(fields, [](const Field& field) { return field.name == "num_threads"; });
  out.options = fields;
  out.keep_alive = holder;
  Arrays arrays;
  const std::span<const int> labels = arrays.integers(run["labels"], "labels");
  out.labels.assign(labels.begin(), labels.end());
  out.summary = summary_from(run["summary"]);
  out.part_names = part_names_from(run["summary"]);
  if (!out.part_names.empty())
    out.files.push_back({"part_names.csv", part_names_csv(out.part_names)});
  out.model = model_from(run["model"]);
  if (out.model->options_json.empty()) out.model->options_json = options_to_json(fields);
  out.columns = columns_from(run["columns"]);
  for (const auto& [name, text] : py::cast<py::dict>(run["files"]))
    out.files.push_back({py::cast<std::string>(name), py::cast<std::string>(text)});
  out.input.data = samples_from(run);
  out.input.images.root = run["root"].is_none() ? "" : py::cast<std::string>(run["root"]);
  if (!run["truth"].is_none()) {
    const std::span<const int> truth = arrays.integers(run["truth"], "y");
    out.truth.indices.assign(truth.begin(), truth.end());
    out.truth.names = py::cast<std::vector<std::string>>(run["class_names"]);
    out.truth_metrics = compute_metrics(out.labels, out.truth.indices);
  }
  out.command = "(fitted in Python)";
  out.new_input = "NEW.npy";
  return out;
}

}  // namespace milieu::python

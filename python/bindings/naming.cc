// SPDX-License-Identifier: Apache-2.0
#include "milieu/naming/naming.h"

#include <pybind11/stl.h>

#include <algorithm>

#include "arrays.h"
#include "method.h"
#include "milieu/naming/part_names.h"
#include "modules.h"

namespace milieu::python {

namespace {

py::list labels_to_python(const std::vector<NamedLabel>& labels) {
  py::list list;
  for (const NamedLabel& label : labels) {
    py::dict entry;
    entry["label"] = label.label;
    entry["name"] = label.name;
    entry["sure"] = label.sure;
    entry["mean"] = label.mean;
    entry["lead"] = label.lead;
    entry["p"] = label.p;
    list.append(entry);
  }
  return list;
}

// As summary.json has them.
py::list names_to_python(const std::vector<PartNames>& parts) {
  py::list list;
  for (const PartNames& part : parts) {
    py::dict entry;
    entry["name"] = part.title();
    entry["labels"] = labels_to_python(part.labels);
    if (!part.exemplar.empty()) entry["exemplar"] = labels_to_python(part.exemplar);
    list.append(entry);
  }
  return list;
}

LabelEvidence evidence_of(FloatView rows, FloatView vectors, int num_threads) {
  return vectors.rows() > 0 ? evidence_from_vectors(rows, vectors, num_threads)
                            : evidence_from_scores(rows, num_threads);
}

// `rows` are scores, or samples where there are label vectors; `more` has the optional context,
// part_classes and exemplars.
py::list name_parts_of(py::handle parts, py::handle rows, py::handle vectors,
                       const std::vector<std::string>& lines, const py::dict& more,
                       const py::dict& options) {
  const auto values = options_from<NamingOptions>(options);
  Arrays arrays;
  NamingInput input;
  input.parts = arrays.integers(parts, "labels");
  for (const int part : input.parts) input.num_parts = std::max(input.num_parts, part + 1);
  const FloatView samples = arrays.floats(rows, "X");
  FloatView label_vectors, around;
  std::span<const int> exemplars;
  if (!vectors.is_none()) label_vectors = arrays.floats(vectors, "vectors");
  if (more.contains("context")) around = arrays.floats(more["context"], "context");
  if (more.contains("part_classes")) {
    input.classes = arrays.integers(more["part_classes"], "part_classes");
    input.num_parts = std::max(input.num_parts, static_cast<int>(input.classes.size()));
  }
  if (more.contains("exemplars")) exemplars = arrays.integers(more["exemplars"], "exemplars");
  const int64_t num_labels = label_vectors.rows() > 0 ? label_vectors.rows() : samples.cols();
  const std::vector<std::string> names =
      shown_names(match_label_names(lines, num_labels, "label_names", "X"));
  std::vector<PartNames> found;
  {
    const py::gil_scoped_release release;
    const LabelEvidence evidence = evidence_of(samples, label_vectors, values.num_threads);
    LabelEvidence context;
    if (around.rows() > 0) context = evidence_of(around, label_vectors, values.num_threads);
    input.samples = &evidence;
    if (context.num_samples() > 0) input.context = &context;
    for (const auto& labels : name_parts(input, values))
      found.push_back({with_names(labels, names), {}});
    for (size_t k = 0; k < std::min(exemplars.size(), found.size()); ++k)
      found[k].exemplar = with_names(name_sample(evidence, exemplars[k], values), names);
  }
  return names_to_python(found);
}

}  // namespace

void bind_naming(py::module_& m) { m.def("name_parts", &name_parts_of); }

}  // namespace milieu::python

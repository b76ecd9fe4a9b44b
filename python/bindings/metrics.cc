// SPDX-License-Identifier: Apache-2.0
#include "milieu/metrics/metrics.h"

#include "arrays.h"
#include "modules.h"

namespace milieu::python {

namespace {

py::dict metrics_of(py::handle labels_true, py::handle labels_pred) {
  Arrays arrays;
  const std::span<const int> truth = arrays.integers(labels_true, "labels_true");
  const std::span<const int> labels = arrays.integers(labels_pred, "labels_pred");
  Metrics metrics;
  {
    const py::gil_scoped_release release;
    metrics = compute_metrics(labels, truth);
  }
  py::dict out;
  out["accuracy"] = metrics.accuracy;
  out["error"] = metrics.error;
  out["balanced_error"] = metrics.balanced_error;
  out["nmi"] = metrics.nmi;
  out["nmi_max"] = metrics.nmi_max;
  out["nmi_sqrt"] = metrics.nmi_sqrt;
  out["ari"] = metrics.ari;
  out["f"] = metrics.f;
  out["f_pairwise"] = metrics.f_pairwise;
  out["precision_pairwise"] = metrics.precision_pairwise;
  out["recall_pairwise"] = metrics.recall_pairwise;
  out["f_bcubed"] = metrics.f_bcubed;
  out["precision_bcubed"] = metrics.precision_bcubed;
  out["recall_bcubed"] = metrics.recall_bcubed;
  out["purity"] = metrics.purity;
  out["num_clusters"] = metrics.num_clusters;
  out["num_classes"] = metrics.num_classes;
  out["n"] = metrics.n;
  out["class_from_cluster"] = to_array(std::move(metrics.class_from_cluster));
  return out;
}

}  // namespace

void bind_metrics(py::module_& m) { m.def("metrics", &metrics_of); }

}  // namespace milieu::python

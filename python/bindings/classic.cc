// SPDX-License-Identifier: Apache-2.0
// The baselines on rows.
#include "method.h"
#include "milieu/classic/agglomerative/agglomerative.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/kmodes/kmodes.h"
#include "milieu/classic/meanshift/mean_shift.h"
#include "milieu/classic/ncut/ncut.h"
#include "modules.h"

namespace milieu::python {

void bind_classic(py::module_& m) {
  bind_method<fit_kmeans>(m, "kmeans");
  bind_method<fit_kmodes>(m, "kmodes");
  bind_method<fit_gmm>(m, "gmm");
  bind_method<fit_ncut>(m, "ncut");
  bind_method<fit_mean_shift>(m, "meanshift");
  bind_method<fit_agglomerative>(m, "agglomerative");
  bind_rows_function(m, "gmm_probabilities", &predict_probabilities);
  m.def("gmm_log_densities", [](const GmmModel& model, py::handle X, int num_threads) {
    Arrays arrays;
    const FloatView points = arrays.floats(X, "X");
    std::vector<double> values;
    {
      const py::gil_scoped_release release;
      values = log_densities(model, points, usable_threads(num_threads));
    }
    return to_array(std::move(values));
  });
}

}  // namespace milieu::python

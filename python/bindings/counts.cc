// SPDX-License-Identifier: Apache-2.0
// The baselines on counts.
#include "method.h"
#include "milieu/classic/counts/bags.h"
#include "milieu/classic/counts/jsom.h"
#include "milieu/classic/counts/multinomials.h"
#include "milieu/classic/counts/topics.h"
#include "modules.h"

namespace milieu::python {

void bind_counts(py::module_& m) {
  bind_method<fit_bags>(m, "bags");
  bind_method<fit_topics>(m, "topics");
  bind_method<fit_multinomials>(m, "multinomials");
  bind_method<fit_jsom>(m, "jsom");
  bind_rows_function<TopicsModel>(m, "topics_probabilities", &infer_topics);
  bind_rows_function<MultinomialsModel>(m, "multinomials_probabilities", &cluster_probabilities);
  bind_rows_function<JsomModel>(m, "jsom_probabilities", &cluster_probabilities);
  m.def("bags_weighted_counts", [](const BagsModel& model, py::handle X) {
    Arrays arrays;
    const FloatView counts = arrays.floats(X, "X");
    Matrix<float> values;
    {
      const py::gil_scoped_release release;
      values = weighted_counts(model, counts);
    }
    return to_array(std::move(values));
  });
}

}  // namespace milieu::python

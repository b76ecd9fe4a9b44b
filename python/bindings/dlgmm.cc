// SPDX-License-Identifier: Apache-2.0
#include "milieu/dlgmm/dlgmm.h"

#include "method.h"
#include "modules.h"

namespace milieu::python {

namespace {

// Patches and, where given, offsets, grid and bands.
DlgmmImages images_from(py::handle patches, const py::dict& inputs, Arrays& arrays) {
  DlgmmImages images;
  images.patches = arrays.floats(patches, "X");
  if (inputs.contains("offsets")) images.offsets = arrays.offsets(inputs["offsets"], "offsets");
  if (inputs.contains("grids")) images.grid = arrays.grid(inputs["grids"], "grids");
  if (inputs.contains("image_vectors"))
    images.vectors = arrays.floats(inputs["image_vectors"], "image_vectors");
  if (inputs.contains("edges")) images.edges = arrays.pairs(inputs["edges"], "edges");
  return images;
}

py::dict fit(py::handle X, const py::dict& options, const py::dict& inputs,
             const py::dict& control) {
  const auto values = options_from<DlgmmOptions>(options);
  Arrays arrays;
  DlgmmInput input;
  input.images = images_from(X, inputs, arrays);
  if (inputs.contains("initial_labels"))
    input.initial_labels = arrays.integers(inputs["initial_labels"], "initial_labels");
  if (inputs.contains("initial_words"))
    input.initial_words = arrays.floats(inputs["initial_words"], "initial_words");
  std::vector<int> words;
  DlgmmResult result = run_fit(control, [&](Monitor& monitor) {
    DlgmmResult fitted = fit_dlgmm(input, values, monitor);
    words =
        word_map(fitted.model, input.images, fitted.prediction.alpha, values.num_threads, monitor);
    return fitted;
  });
  py::dict out = result_to_python(result);
  out["words"] = to_array(std::move(words));
  out["probabilities"] = to_array(std::move(result.prediction.probabilities));
  out["alpha"] = to_array(std::move(result.prediction.alpha));
  out["bound_terms"] = to_array(std::move(result.bound_terms));
  return out;
}

py::dict infer(const DlgmmModel& model, py::handle X, const py::dict& inputs, int num_threads) {
  Arrays arrays;
  const DlgmmImages images = images_from(X, inputs, arrays);
  DlgmmPrediction prediction;
  {
    const py::gil_scoped_release release;
    prediction = infer_images(model, images, usable_threads(num_threads));
  }
  py::dict out;
  out["labels"] = to_array(std::move(prediction.labels));
  out["probabilities"] = to_array(std::move(prediction.probabilities));
  out["alpha"] = to_array(std::move(prediction.alpha));
  return out;
}

py::array words_of(const DlgmmModel& model, py::handle X, const py::dict& inputs, py::handle alpha,
                   int num_threads) {
  Arrays arrays;
  const DlgmmImages images = images_from(X, inputs, arrays);
  const DoubleView means = arrays.doubles(alpha, "alpha");
  std::vector<int> words;
  {
    const py::gil_scoped_release release;
    words = word_map(model, images, means, usable_threads(num_threads));
  }
  return to_array(std::move(words));
}

}  // namespace

void bind_dlgmm(py::module_& m) {
  bind_model<DlgmmModel>(m, "dlgmm_model");
  bind_declaration<DlgmmOptions, DlgmmInput>(m, "dlgmm");
  m.def("dlgmm_fit", &fit);
  m.def("dlgmm_infer", &infer);
  m.def("dlgmm_words", &words_of);
}

}  // namespace milieu::python

// SPDX-License-Identifier: Apache-2.0
// Labels of new samples under a saved model, from a file or a folder. Images are described as those
// the model was trained on: the model file alone says how.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/data/dataset.h"
#include "milieu/input/image_rows.h"
#include "milieu/input/input_spec.h"
#include "milieu/input/patch_images.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct PredictRequest {
  std::string model;  // a model file or a run folder
  std::string input;
  LoadOptions load;
  ImageOptions images;                         // where the model does not say
  InputFiles files{inputs_of<PatchImages>()};  // of patches, for models of images
  bool wants_words = false;                    // the word of every patch, likewise
  bool wants_probabilities = false;            // of rows; those of images are always there
};

struct Prediction {
  std::string kind;  // of the model
  Dataset data;      // what was labelled: rows, or one row per image
  std::vector<int> labels;
  Matrix<double> probabilities;  // samples x clusters, where asked for or of images
  // Models of images (dlgmm) only.
  std::vector<int> words;  // one per patch, where asked for
  PatchImages patches;
  std::vector<std::string> warnings;
};

// Throws IoError, DataError or InvalidArgument. A stopped prediction of images has labels only.
Prediction predict_input(const PredictRequest& request, Monitor& monitor = silent_monitor());

}  // namespace milieu

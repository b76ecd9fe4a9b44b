// SPDX-License-Identifier: Apache-2.0
// `milieu predict` under a dlgmm model: samples are images made of patches.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/data/dataset.h"
#include "milieu/store/model_file.h"
#include "patch_images.h"

namespace milieu::cli {

// What only models of images take and give.
struct ImagePredictOptions {
  PatchFiles files;
  std::string probabilities;  // file for the probabilities of the clusters; "": none
  std::string word_map;       // file for the word of every patch; "": none

  bool is_given() const {
    return !files.offsets.empty() || !files.grid.empty() || !files.positions.empty() ||
           !probabilities.empty() || !word_map.empty();
  }
};

struct ImagePrediction {
  Dataset data;  // one row an image
  std::vector<int> labels;
  std::vector<std::string> notes;  // what was written
};

// `model_path` is what the user named: pictures are described as the run folder says. Writes the
// files of `options` and throws like fit_dlgmm and load_patch_images.
ImagePrediction predict_images(const ModelFile& file, const std::string& model_path,
                               const std::string& input, const ImagePredictOptions& options,
                               const LoadOptions& load, Monitor& monitor);

// The words of a dlgmm model as descriptors; those of projected descriptors need the projection
// that lies beside the model.
Matrix<float> codebook_of_images(const ModelFile& file, const std::string& model_path);

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// What a model was trained on, as far as new images need it. A model of images carries it inside;
// models of earlier versions have it beside them, in the run folder.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/input/image_rows.h"
#include "milieu/store/model_file.h"

namespace MILIEU_API milieu {

// Empty texts where the model says nothing.
struct Training {
  std::string folder;  // the run folder, or where the model file is
  std::string feature, max_side;
  std::string offsets;            // of dlgmm: INPUT held patches
  std::string vocabulary_folder;  // has the visual words of training; "": there are none
};

// `model` is the file or run folder that the user named.
Training read_training(const std::string& model);

// Adds what new images need to a model that was trained on images: feature, size limit, words.
void add_training(const ImageOrigin& images, ModelFile& model);

// The rows of new samples: images are described as those the model was trained on, with the words
// of training.
InputRows open_rows_like_training(const std::string& path, const std::string& model,
                                  ImageOptions images, const LoadOptions& load, Monitor& monitor);

// The same for rows that are read beside those of training: `origin` says how these became rows,
// `source` what they were read from. A file of numbers is read as it is.
InputRows open_rows_like(const std::string& path, const ImageOrigin& origin,
                         const std::string& source, const ImageOptions& images,
                         const LoadOptions& load, Monitor& monitor);

// A folder of the cache with these files, named after their content.
std::string share_vocabulary(const std::vector<VocabularyFile>& files);

// The folder itself, or that of a model file.
std::string folder_of_model(const std::string& model);

}  // namespace milieu

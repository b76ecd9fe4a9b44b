// SPDX-License-Identifier: Apache-2.0
// INPUT as a folder: of pictures, whose features come through the cache, or of features.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "milieu/data/dataset.h"
#include "milieu/feature/cache/extract.h"
#include "milieu/feature/feature_spec.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/render/contact_sheet.h"
#include "cli/progress.h"

namespace milieu::cli {

struct PictureOptions {
  std::string feature;            // what --feature says
  std::string max_side;           // "": the default
  std::string codebook;           // "": none
  std::string vocabulary_folder;  // words of training; "": learned here
};

// The columns of one feature.
struct FeatureColumns {
  std::string id;
  int64_t first = 0;
  int64_t count = 0;
};

struct PictureInput {
  Dataset data;                         // names are paths below `root`
  std::string root;                     // the folder of pictures; "": INPUT was a file
  std::string feature;                  // the list in full, such as "dense-sift:words=400"
  std::string max_side;                 // of a folder of features, "" for the default
  std::vector<FeatureColumns> columns;  // of the features, in the order of the list
  std::vector<std::string> warnings;
  // Files that a model of this input needs for new pictures: name and path.
  std::vector<std::pair<std::string, std::string>> vocabulary;
};

// Whether INPUT is a folder of features, complete or not.
bool is_feature_input(const std::string& path);

// Any INPUT: a file of numbers, a folder of pictures (with a feature), a folder of features.
PictureInput load_input(const std::string& path, const PictureOptions& pictures,
                        const LoadOptions& options, ProgressMonitor& monitor, Session& session);

// INPUT of a prediction: pictures are described as those the model was trained on, with the words
// of training. `model` is the file or run folder that the user named.
PictureInput load_input_like_training(const std::string& path, const std::string& model,
                                      PictureOptions pictures, const LoadOptions& options,
                                      ProgressMonitor& monitor, Session& session);

// Small pictures of the samples, for reports; none where a file has gone or cannot be read.
// `names`, paths below `root`, must outlive it.
MakePicture picture_maker(const std::string& root, const std::vector<std::string>& names);

// The list with the value of --codebook given to every local feature without one of its own.
std::vector<FeatureSpec> parse_feature_list(const std::string& list, const std::string& codebook);

// The list with norm=none for every local feature, unless the list tells a norm: histograms are
// then how often each word occurs.
std::string counting_features(const std::string& list);

// The pictures of a folder, or those that a .txt names.
ImageFolder list_pictures(const std::string& path);

// What `--codebook` may name: a file of numbers, a run folder or model (its centres), a folder of
// features with one codebook.
Matrix<float> read_codebook(const std::string& path);

// $MILIEU_CACHE, else $XDG_CACHE_HOME/milieu, else ~/.cache/milieu.
std::string cache_folder();

// What --max-side says, or the default for "".
int parse_max_side(const std::string& text);

// What the run that made a model says about its input; empty texts where it says nothing.
struct Training {
  std::string folder;  // the run folder
  std::string feature, max_side;
  std::string offsets;  // of dlgmm: INPUT held patches
};
Training read_training(const std::string& model);

// One line about the pictures that were skipped; "" when there is none.
std::string skipped_text(const ImageFolder& images, const ExtractResult& result);

// Names each skipped picture on stderr; returns one line for the summary, "" when there is none.
std::string report_skipped(const ImageFolder& images, const ExtractResult& result,
                           Console& console);

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// Rows from any INPUT: a file of numbers, an image folder (its features come through the cache), or
// a feature folder. INPUT is read once; sets of its rows are taken from `rows`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/data/image_folder.h"
#include "milieu/data/row_source.h"
#include "milieu/feature/cache/extract.h"
#include "milieu/feature/feature_spec.h"

namespace MILIEU_API milieu {

// How images become rows.
struct ImageOptions {
  std::string feature;            // a list such as "gist,color"; "": not given
  std::string max_side;           // "": the default
  std::string codebook;           // "": none
  std::string vocabulary_folder;  // visual words of training; "": learned here
  std::string vectors = {};       // a file with one row per image, in place of features; "": none
  std::string vector_names = {};  // the images of its rows; "": in the order of sorted names
};

// The columns of one feature, or of one view.
struct ColumnRange {
  std::string name;
  int64_t first = 0;
  int64_t count = 0;
};

// A file that a model of these features needs for new images.
struct VocabularyFile {
  std::string name;  // "dense-sift.codebook.npy"
  std::string path;
};

// Where rows that describe images came from; all empty for a file of numbers.
struct ImageOrigin {
  std::string root;                  // the image folder; sample names are paths below it
  std::string feature;               // the list in full, such as "dense-sift:words=400"
  std::string max_side;              // "": the default
  std::vector<ColumnRange> columns;  // of the features, in the order of the list
  std::vector<VocabularyFile> vocabulary;
};

struct InputRows {
  RowSource rows;  // all of them
  ImageOrigin images;
  std::vector<std::string> warnings;
};

// Opens any INPUT. Of `load` the selection does not count. Throws IoError, DataError or
// InvalidArgument with the path named.
InputRows open_rows(const std::string& path, const ImageOptions& images, const LoadOptions& load,
                    Monitor& monitor = silent_monitor());

// Whether INPUT is a feature folder, complete or not; an image folder; a list of images (.txt).
bool is_feature_input(const std::string& path);
bool is_image_folder(const std::string& path);

// The list with the value of --codebook given to every local feature that has none.
std::vector<FeatureSpec> parse_feature_list(const std::string& list, const std::string& codebook);

// The list with norm=none for every local feature, unless it names a norm: histograms then count
// how often each word occurs.
std::string counting_features(const std::string& list);

// The images of a folder, or those that a .txt names.
ImageFolder list_images(const std::string& path);

// What --max-side says, or the default for "".
int parse_max_side(const std::string& text);

// One line about the images that were skipped; "" when there are none.
std::string skipped_text(const ImageFolder& images, const ExtractResult& result);

// Notifies the monitor of each skipped image; returns skipped_text.
std::string report_skipped(const ImageFolder& images, const ExtractResult& result,
                           Monitor& monitor);

}  // namespace milieu

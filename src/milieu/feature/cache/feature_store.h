// SPDX-License-Identifier: Apache-2.0
// A finished feature folder (extract.h makes it): points and patches for the methods, mapped,
// not read. Example:
//
//   const FeatureFolder folder = open_feature_folder("features");
//   const Points points = folder.points("lbp");            // one row per image
//   const PatchSet patches = folder.patches("dense-sift");  // many rows per image
//   for (int64_t i = 0; i < patches.num_images(); ++i)
//     use(patches.descriptors_of(i), patches.frames_of(i));
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/labels.h"
#include "milieu/data/points.h"

namespace MILIEU_API milieu {

// Local descriptors of every image: rows of `descriptors` and `frames` (x, y, scale, angle:
// local.h) from offsets[i] to offsets[i + 1] belong to image i. An image may have none.
struct PatchSet {
  std::string file;              // of the descriptors
  Points descriptors;            // all m x d
  Points frames;                 // all m x 4
  std::vector<int64_t> offsets;  // images + 1
  struct Grid {
    int rows = 0, cols = 0;  // 0: no grid
  };
  std::vector<Grid> grids;  // one per image

  int64_t num_images() const { return static_cast<int64_t>(offsets.size()) - 1; }
  FloatView descriptors_of(int64_t image) const {
    return descriptors.view().rows_between(offsets[image], offsets[image + 1]);
  }
  FloatView frames_of(int64_t image) const {
    return frames.view().rows_between(offsets[image], offsets[image + 1]);
  }
};

struct FeatureFolder {
  std::string path;
  std::string source;               // the image folder
  std::string absolute_source;      // the same from any working folder
  std::vector<std::string> images;  // paths relative to source, in the order of the rows
  Labels labels;                    // classes of the images; empty when there are none
  std::vector<int> widths, heights;

  struct Entry {
    std::string id;            // "dense-sift"
    std::string spec;          // "dense-sift:step=4": what --feature takes
    bool is_words = false;     // histograms of words: a vocabulary belongs to it
    bool has_patches = false;  // local descriptors were kept
    int64_t cols = 0;
    std::string options_json;
    std::map<std::string, std::string> files;  // name to fingerprint; empty in folders of 0.1.0
  };
  std::vector<Entry> features;
  int max_side = 0;  // how images were scaled down
  int64_t max_pixels = 0;

  // Throw InvalidArgument that names the features there are when `id` is none of them, or has no
  // patches; DataError when a file is not what was written.
  const Entry& find(const std::string& id) const;
  Points points(const std::string& id) const;
  PatchSet patches(const std::string& id) const;
  // vocabulary_files() of this folder.
  std::vector<std::string> vocabulary(const std::string& id) const;
  // Where the images are now: `source` as it was given if the first image is there, else the
  // absolute path.
  std::string found_source() const;
};

// Holds a features.json.
bool is_feature_folder(const std::string& path);

// Throws IoError or DataError; a folder whose making was not finished is a DataError.
FeatureFolder open_feature_folder(const std::string& path);

// The files, names only, that the vocabulary of the feature `id` consists of (codebook, pca, idf):
// copied into another folder they are what ExtractOptions::vocabulary_folder needs. None for whole
// features.
std::vector<std::string> vocabulary_files(const std::string& folder, const std::string& id);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// The files of a feature folder, as extract.cc writes and feature_store.cc reads them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "milieu/feature/cache/row_store_internal.h"
#include "milieu/feature/words.h"

namespace milieu::internal {

inline constexpr int kFolderFormat = 1;

// A line of images.csv.
struct ImageRow {
  std::string path;
  std::string class_name;  // "": none
  int width = 0;
  int height = 0;
  uint64_t hash = 0;
};

std::string images_csv(const std::vector<ImageRow>& rows);
// Throws DataError that names the line.
std::vector<ImageRow> read_images_csv(const std::string& path);

// One feature in features.json.
struct FeatureRecord {
  std::string id;
  std::string spec;  // what parse_feature reads
  std::string kind;  // "whole" or "words"
  std::string options_json;
  std::string key;          // parameters of the rows in one fingerprint
  std::string patches_key;  // of the local descriptors; "": not kept
  int64_t cols = 0;
  std::map<std::string, std::string> files;  // name to fingerprint; empty in folders of 0.1.0
};

struct FolderRecord {
  std::string source;           // the image folder
  std::string absolute_source;  // the same from any working folder
  uint64_t images = 0;          // fingerprint of images.csv
  int64_t num_images = 0;
  int max_side = 0;
  int64_t max_pixels = 0;
  std::vector<FeatureRecord> features;
};

void write_features_json(const std::string& path, const FolderRecord& record);
// Throws IoError, and DataError when it is not such a file or of a newer format.
FolderRecord read_features_json(const std::string& path);

// Paths of the files of feature `id` in the folder `out`.
StoreFiles whole_files(const std::string& out, const std::string& id);
StoreFiles count_files(const std::string& out, const std::string& id);
StoreFiles patch_files(const std::string& out, const std::string& id);
std::string hidden(const std::string& out, const std::string& name);  // in .milieu/

// Names, relative to `out`, of the finished files of a feature.
std::vector<std::string> files_of(const std::string& out, const FeatureRecord& feature);
std::map<std::string, std::string> print_files(const std::string& out,
                                               const std::vector<std::string>& names);
// Files that are missing or are not what was written.
std::vector<std::string> damaged_files(const std::string& out, const FeatureRecord& feature);
// The name of a file of the folder `out` relative to it.
std::string name_in(const std::string& out, const std::string& path);
// The content in one fingerprint; "" when it cannot be read.
std::string print_of_file(const std::string& path);

// NAME.codebook.npy and, where it has one, NAME.pca.npy (the mean, then the components).
void write_vocabulary(const std::string& folder, const std::string& id, const Vocabulary& v);
Vocabulary read_vocabulary(const std::string& folder, const std::string& id);
bool has_vocabulary(const std::string& folder, const std::string& id);
uint64_t hash_of(const Vocabulary& v);

}  // namespace milieu::internal

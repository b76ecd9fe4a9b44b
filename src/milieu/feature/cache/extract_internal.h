// SPDX-License-Identifier: Apache-2.0
// The parts of extract.cc: one feature of the job, and where its words come from.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "milieu/data/file/file_lock.h"
#include "milieu/feature/cache/extract.h"
#include "milieu/feature/cache/feature_folder_internal.h"
#include "milieu/feature/cache/file_index_internal.h"
#include "milieu/feature/cache/row_store_internal.h"

namespace milieu::internal {

// An image of the listing.
struct ImageItem {
  std::string path;
  std::string class_name;
  FileStamp now;
  const FileState* known = nullptr;    // what was found out about it; null: nothing yet
  const FileState* earlier = nullptr;  // what was known before the file changed, if anything
};

// One feature of the job.
struct FeatureTask {
  FeatureSpec spec;
  Vocabulary vocabulary;    // of local features
  std::vector<double> idf;  // given ones; empty: from these images
  std::string options_json;
  std::string key, patches_key;
  std::unique_ptr<RowStore> rows;     // of whole features, or counts of words
  std::unique_ptr<RowStore> patches;  // null: not kept
  // Descriptors of images that the vocabulary was learned from, so that they are not computed
  // again; null where the words were given. Gone when the job is done.
  std::unique_ptr<RowStore> sample;
};

// What one image gave.
struct ImageResult {
  FileState state;
  std::string error;  // of a feature, or of reading: not remembered
  // One per task; empty where the store has the image already.
  struct Rows {
    std::unique_ptr<LocalDescriptors> rows, patches;
  };
  std::vector<Rows> features;
  bool was_decoded = false;
};

// Throws InvalidArgument for a file, and for a folder of other things.
void make_feature_folder(const std::string& out);
// Removes incomplete files that a killed run left behind.
void remove_leftovers(const std::string& out);

// Fingerprint of all that a feature's descriptors depend on, the images aside.
std::string descriptor_key(FeatureTask& task, const DecodeOptions& decode);

// Gives the task its vocabulary: named by the options, kept from before, or learned from a sample
// of the images. False when the monitor asked to stop.
bool find_vocabulary(FeatureTask& task, const std::vector<ImageItem>& items,
                     const std::string& root, const std::string& out, const ExtractOptions& options,
                     Monitor& monitor, std::vector<std::string>& warnings);

// Reads, decodes and describes one image as far as the tasks' stores lack it.
ImageResult process_image(const ImageItem& item, const std::string& root,
                          const std::vector<FeatureTask>& tasks, const DecodeOptions& decode);

// Fingerprint of a feature's rows: its descriptors and, of local features, the words.
std::string rows_key(FeatureTask& task, const DecodeOptions& decode);

// NAME.npy (and NAME.idf.npy) from the counts of words.
void write_words(const FeatureTask& task, const std::string& out);

}  // namespace milieu::internal

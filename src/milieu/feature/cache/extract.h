// SPDX-License-Identifier: Apache-2.0
// From an image folder to a feature folder (feature_store.h reads it):
//
//   images.csv                 path,class,width,height,hash
//   features.json              parameters and versions
//   NAME.npy                   one row per image, in the order of images.csv
//   NAME.descriptors.npy ...   of local features, with `patches`
//   NAME.codebook.npy ...      of local features: what words are made with
//   .milieu/                   what is needed to resume after a crash
//
// Work is never done twice: images are known by size, times and inode, then by content; features by
// all their parameters. A killed run (kill -9, power cut) resumes where it stopped; files that are
// not what was written are made again. Memory does not depend on the number of images. The numbers
// do not depend on threads, on interruptions or on what was there before.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/job/shard.h"
#include "milieu/base/monitor.h"
#include "milieu/data/image_folder.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/feature/feature_spec.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct ExtractOptions {
  DecodeOptions decode = {};
  bool patches = false;  // keep the local descriptors, not only the words
  bool strict = false;   // an unreadable image is an error, not skipped
  bool verify = false;   // read every image, even one that looks unchanged
  int num_threads = 0;
  bool waits = false;  // for another run that writes to the same folder; else it is an error
  // A folder with the vocabulary (NAME.codebook.npy, ...) that must be used: another folder of
  // features, or a run folder. "": learned from these images.
  std::string vocabulary_folder = {};
  // Reads what the option `codebook` names; by default a file of numbers, one word per row.
  std::function<Matrix<float>(const std::string& path)> read_codebook = {};
  // Only these images, counted in the order of the listing: several processes fill one folder, and
  // merge_features finishes it.
  std::optional<Shard> shard = {};
};

template <class Visitor>
void visit_fields(ExtractOptions& o, Visitor&& v) {
  visit_fields(o.decode, v);
  v("patches", o.patches, anything(),
    "keep the local descriptors and their positions as well as the word histograms");
  v("strict", o.strict, anything(), "fail at the first unreadable image instead of skipping it");
  v("verify", o.verify, anything(),
    "compare the content of every image, not only size, times and inode, with what was seen "
    "before");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

struct ExtractResult {
  int64_t num_images = 0;                     // rows of the features
  int64_t num_computed = 0;                   // images that were decoded now
  bool is_complete = true;                    // false: stopped; the same call resumes
  std::vector<ImageFolder::Skipped> skipped;  // images that could not be read
  std::vector<std::string> warnings;
  double seconds = 0;
};

// Features of `images` into the folder `out`, which is made if needed. Features that are there
// already stay and are brought up to date. Throws InvalidArgument for options and for a folder of
// other things, DataError when no image can be read (or one cannot, with `strict`), IoError.
//
// Shards may run at the same time, on machines that share the folder. The first one learns the
// visual words while the others wait. A shard of another job (other options, images or version, or
// another instruction set, which rounds differently) is an InvalidArgument.
ExtractResult extract_features(const ImageFolder& images, std::vector<FeatureSpec> specs,
                               const std::string& out, const ExtractOptions& options = {},
                               Monitor& monitor = silent_monitor());

// Finishes the folder from its shards: it holds the bytes that one extract_features would have
// written. Only `num_threads`, `waits` and `read_codebook` count of the options; the images are not
// read. Throws InvalidArgument when shards are missing, and names them.
ExtractResult merge_features(const std::string& out, const ExtractOptions& options = {},
                             Monitor& monitor = silent_monitor());

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Images as sets of patches, for `milieu dlgmm`: from a file of descriptors with offsets, a folder
// of features, or a folder of pictures (dense SIFT through the cache).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/base/fields.h"
#include "milieu/data/dataset.h"
#include "milieu/dlgmm/dlgmm.h"

namespace milieu::cli {

// Files beside INPUT that say where the patches belong.
struct PatchFiles {
  std::string offsets;
  std::string grid;
  std::string positions;
};

// How pictures become patches.
struct PatchOptions {
  int step = 8;             // pixels between patches, where no feature is named
  int num_components = 64;  // PCA of the descriptors; 0: none
  // What --feature and --max-side say; "": dense SIFT (in a folder of features: the one that is
  // there), the default side.
  std::string feature = {}, max_side = {};
};

template <class Visitor>
void visit_fields(PatchOptions& o, Visitor&& v) {
  v("step", o.step, between(1, 4096), "pictures: pixels between neighbouring 16 x 16 patches");
  v("num_components", o.num_components, at_least(0).alias("pca"),
    "pictures: principal components kept of each descriptor; 0 keeps all 128 numbers");
}

struct PatchImages {
  Points patches;                // mapped where the file allows it
  Matrix<float> projection;      // of pictures' descriptors: mean, then components; or empty
  std::vector<int64_t> offsets;  // images + 1
  Matrix<int32_t> grid;          // images x 2, or empty
  Points positions;              // patches x 2 or more: x, y, ...; or empty
  std::string feature;           // of pictures: the local feature in full
  int max_side = 0;              // of pictures: how they were scaled down
  std::vector<std::string> warnings;
  std::vector<uint8_t> bands;      // by set_bands
  std::vector<std::string> names;  // of images; empty: numbers
  Labels labels;                   // of images; empty: unknown
  std::vector<int64_t> rows;       // kept images; empty: all
  int64_t total_images = 0;        // before the selection
  std::string root;                // folder of the pictures; "": none
  std::string source;
  std::vector<std::string> watched;  // files that must not change while they are in use

  int64_t num_images() const { return static_cast<int64_t>(offsets.size()) - 1; }
  DlgmmImages view() const;
  // Bands from positions, where there is no grid: by y between the image's highest and lowest.
  void set_bands(int num_bands);
};

// Throws IoError, DataError or InvalidArgument with the file named. `projection`: that of training,
// for new pictures; empty: learned from these.
PatchImages load_patch_images(const std::string& path, const PatchFiles& files,
                              const PatchOptions& options, const LoadOptions& load, uint64_t seed,
                              Monitor& monitor, const Matrix<float>& projection = {});

// One row an image: how many patches it has. What the shared runner counts and names.
Dataset image_dataset(const PatchImages& images);

// "size time" of every watched file: another text means that one of them has changed.
std::string watch_state(const PatchImages& images);

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// Images as sets of patches: from a file of descriptors with offsets, a feature folder, or an image
// folder (dense SIFT through the cache unless another local feature is named).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/inputs.h"
#include "milieu/base/monitor.h"
#include "milieu/data/dataset.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/input/input_spec.h"

namespace MILIEU_API milieu {

// How images become patches.
struct PatchOptions {
  int num_components = 64;     // PCA of the descriptors; 0: none
  int position_neighbors = 0;  // for gamma: so many nearest patches of the image; 0: the grid's
  // What describes whole images beside their patches: a list of features, none, or auto.
  std::string image_feature = "auto";
  int step = 0;  // deprecated: pixels between patches of the default feature; 0: 8
};

template <class Visitor>
void visit_fields(PatchOptions& o, Visitor&& v) {
  v("num_components", o.num_components, at_least(0).alias("pca"),
    "image folders: principal components kept of each descriptor; 0 keeps all its numbers");
  v("position_neighbors", o.position_neighbors, between(0, 1000),
    "for gamma: the neighbours of a patch are this many nearest ones of its image, by position "
    "(keypoints); 0 takes the grid's");
  v("image_feature", o.image_feature, anything(),
    "image folders: what describes each whole image beside its patches, such as gist or "
    "onnx:MODEL.onnx, or none; auto is the network that is set up, else gist (none beside patches "
    "of a network)");
  v("step", o.step, between(0, 4096).deprecated_for("--feature dense-sift:step=N"),
    "pixels between neighbouring patches of the default feature");
}

struct PatchImages {
  Points patches;                // mapped where the file allows it
  Matrix<float> projection;      // of images' descriptors: mean, then components; or empty
  std::vector<int64_t> offsets;  // images + 1
  Matrix<int32_t> grid;          // images x 2, or empty
  Points positions;              // patches x 2 or more: x, y, ...; or empty
  Points image_vectors;          // one row per image; or empty
  std::vector<std::pair<int64_t, int64_t>> edges;  // neighbouring patches, in place of the grid's
  std::string feature;                             // of image folders: the local feature in full
  int max_side = 0;                                // of image folders: how images were scaled down
  std::string image_feature;                       // of image_vectors, in full; "" for a file's
  std::vector<std::string> warnings;
  std::vector<uint8_t> bands;      // by set_bands
  std::vector<std::string> names;  // of images; empty: numbers
  Labels labels;                   // of images; empty: unknown
  std::vector<int64_t> rows;       // kept images; empty: all
  int64_t total_images = 0;        // before the selection
  std::string root;                // the image folder; "": none
  std::string source;
  std::vector<std::string> watched;  // files that must not change while they are in use

  int64_t num_images() const { return static_cast<int64_t>(offsets.size()) - 1; }
  DlgmmImages view() const;
  // Neighbours from positions: every patch with this many nearest ones of its image; 0: none.
  void set_neighbors(int count);
  // Bands from positions, where there is no grid: by y between the image's highest and lowest.
  void set_bands(int num_bands);
};

// The files that say where the patches of a file belong, as a method declares them.
template <class Visitor>
void visit_inputs(PatchImages& in, Visitor&& v) {
  v("offsets", in.offsets, InputRule{InputKind::Integers, "images + 1"},
    ".npy of whole numbers: where the patches of each image begin, and their number at the end");
  v("grid", in.grid, InputRule{InputKind::Table, "images x 2"},
    "rows and columns of the patch grid of each image; patches are listed row by row");
  v("positions", in.positions, InputRule{InputKind::Rows, "patches x 2"},
    "x and y of each patch: bands without a grid, and --position-neighbors");
  v("edges", in.edges, InputRule{InputKind::Table, "pairs x 2"},
    "pairs of patches of one image that are neighbours for gamma, such as superpixels that touch: "
    "their rows, counted from 0");
  v("image_vectors", in.image_vectors, InputRule{InputKind::Table, "images x W"},
    "further numbers about each whole image, such as an embedding: one row per image, in place of "
    "--image-feature");
}

// What to read, and how images are described.
struct PatchRequest {
  std::string path;
  InputFiles files;
  PatchOptions options;
  // "": dense SIFT (in a feature folder: the one that is there), the default side.
  std::string feature, max_side;
  LoadOptions load;
  uint64_t seed = 1;
  Matrix<float> projection;  // that of training, for new images; empty: learned from these
};

// Throws IoError, DataError or InvalidArgument with the file named.
PatchImages load_patch_images(const PatchRequest& request, Monitor& monitor);

// One row per image: how many patches it has.
Dataset image_dataset(const PatchImages& images);

// Size and time of every watched file: another text means that one of them has changed.
std::string watch_state(const PatchImages& images);

}  // namespace milieu

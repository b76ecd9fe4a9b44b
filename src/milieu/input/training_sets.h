// SPDX-License-Identifier: Apache-2.0
// Example sets for learning a distance, and what a learned distance is used on:
//   FOLDER                     class folders of images, or a feature folder
//   X.npy:labels.npy           points with their clusters
//   X.npy,Y.npy:labels.npy     several views of the same samples, side by side
//   D.npy,E.npy:labels.npy     with --distance precomputed or kernel: matrices, or one .npy of
//                              F x n x n
#pragma once

#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/dataset.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/input/distance_list.h"
#include "milieu/input/image_rows.h"
#include "milieu/input/views.h"

namespace MILIEU_API milieu {

struct TrainingSet {
  std::string name;                     // as the user wrote it
  Points points;                        // rows that have a class; empty with matrices
  std::vector<Points> matrices;         // n x n each
  std::vector<int> clusters;            // 0 .. in this set, none empty
  std::vector<int> classes;             // indices of TrainingInput::class_names
  int64_t total_rows = 0;               // of TRAIN, with those without a class
  std::vector<int64_t> kept_rows = {};  // of TRAIN; empty: all
};

struct TrainingInput {
  std::vector<TrainingSet> sets;
  std::vector<std::string> class_names;
  std::vector<ColumnRange> views;  // of the points
  bool has_images = false;
  ImageOrigin images;  // of the first set
  std::vector<std::string> warnings;
};

// How the sets are read.
struct TrainingRequest {
  std::vector<std::string> sets;
  ImageOptions images;  // of every set; vectors have their own lists
  // Vectors of image folders, computed elsewhere: empty, or one file per set, in the same order.
  std::vector<std::string> vectors = {};
  std::vector<std::string> vector_names = {};  // likewise: the images that their rows describe
  std::string label_column;
  bool is_precomputed = false;  // sets hold matrices
  bool is_kernel = false;       // of kernels instead of distances
  int num_threads = 0;
};

// Reads every set. Words of images are learned from the first one and used for all. Throws
// InvalidArgument for a set without classes, DataError where rows do not match.
TrainingInput load_training_sets(const TrainingRequest& request, Monitor& monitor);

// What matrices hold: square ones of distances, distances to other samples, or kernels, which are
// turned into distances [Komodakis11, footnote 3].
enum class MatrixKind { Distances, Cross, Kernels };

// Matrices of files joined by commas, or the pages of one .npy of three dimensions.
std::vector<Points> load_matrices(const std::string& paths, int num_threads,
                                  std::vector<std::string>* names,
                                  MatrixKind kind = MatrixKind::Distances);

// What exemplars of a set may cost depends on: one row per row of TRAIN as it is.
Points load_exemplar_features(const std::string& path, const TrainingSet& set);

// Every view by each of its distances. Those that a view's negative values forbid are left out and
// named in `warnings`.
std::vector<CandidateDistance> make_candidates(const TrainingInput& input,
                                               const DistanceList& distances,
                                               std::vector<std::string>& warnings);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// What `milieu exemplar learn` learns from, and what a learned distance is used on:
//   FOLDER                     class folders of pictures, or a folder of features
//   X.npy:labels.npy           points with their clusters
//   X.npy,Y.npy:labels.npy     several views of the same samples, side by side
//   D.npy,E.npy:labels.npy     with --distance precomputed: matrices, or one .npy of F x n x n
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "milieu/data/dataset.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/linalg/pair_distance.h"
#include "picture_input.h"
#include "cli/progress.h"

namespace milieu::cli {

// Columns that belong together: a view, or a feature of pictures.
struct ViewColumns {
  std::string name;
  int64_t first = 0;
  int64_t count = 0;
};

struct TrainSet {
  std::string name;              // as the user wrote it
  Points points;                 // rows that have a class; empty with matrices
  std::vector<Points> matrices;  // n x n each
  std::vector<int> clusters;     // 0 .. in this set, none empty
  std::vector<int> classes;      // indices of TrainInput::class_names
};

struct TrainInput {
  std::vector<TrainSet> sets;
  std::vector<std::string> class_names;
  std::vector<ViewColumns> views;  // of the points
  bool is_pictures = false;
  std::string feature, max_side;  // of pictures, in full
  std::vector<std::pair<std::string, std::string>> vocabulary;
  std::vector<std::string> warnings;
};

// Reads every TRAIN. Words of pictures are learned from the first one and used for all. Throws
// UsageError for a TRAIN without classes, DataError where rows do not match.
TrainInput load_train_sets(const std::vector<std::string>& trains, const PictureOptions& pictures,
                           const std::string& label_column, bool is_precomputed, int num_threads,
                           ProgressMonitor& monitor, Session& session);

// Files joined by commas, side by side; `views` (may be null) receives their columns.
Dataset load_views(const std::string& paths, const LoadOptions& options,
                   std::vector<ViewColumns>* views);
// True for "A.npy,B.npy" where no such file exists.
bool is_list_of_files(const std::string& path);

// Matrices of files joined by commas, or the pages of one .npy of three dimensions.
std::vector<Points> load_matrices(const std::string& paths, int num_threads,
                                  std::vector<std::string>* names);

// The distances of "chi-squared,l1". Throws UsageError for unknown ones.
std::vector<Distance> parse_distances(const std::string& list);
std::string distance_name(Distance distance);

// Every view by every distance. Those that a view's negative values forbid are left out and named
// in `warnings`.
std::vector<CandidateDistance> make_candidates(const TrainInput& input,
                                               const std::vector<Distance>& distances,
                                               std::vector<std::string>& warnings);

}  // namespace milieu::cli

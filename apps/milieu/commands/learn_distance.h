// SPDX-License-Identifier: Apache-2.0
// What `milieu exemplar learn` does between its flags and its text: read example clusterings, learn
// a distance from them, leave a run folder. `milieu demo` does the same.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/fields.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/input/training_sets.h"

namespace milieu::cli {

struct LearnFiles {
  std::string train;
  std::string feature, max_side, codebook;
  std::string vectors, vector_names;
  std::string distance;
  std::string label_column;
  std::string exemplar_columns, exemplar_features;
};

template <class Visitor>
void visit_fields(LearnFiles& o, Visitor&& v) {
  v("train", o.train, anything().repeated(), "example sets");
  v("feature", o.feature, anything(),
    "TRAIN is an image folder: what to compute from the images, such as gist,lbp,sparse-sift "
    "(see milieu help features)");
  v("max_side", o.max_side, anything(),
    "scale images down until no side is longer than this (default 1024; 0: no limit)");
  v("codebook", o.codebook, anything(), "visual words computed elsewhere, for local features");
  v("vectors", o.vectors, anything().repeated(),
    "TRAIN is an image folder: its vectors, computed elsewhere (.npy, .npz, .safetensors), one row "
    "per image in the order of the sorted names; once per TRAIN, in the same order");
  v("vector_names", o.vector_names, anything().repeated(),
    "the image that each row of --vectors describes, one name per line; once per TRAIN");
  v("distance", o.distance, anything(),
    "candidate distances of each feature or view, separated by commas: chi-squared, "
    "squared-euclidean (l2), l1, rbf, euclidean, cosine, intersection (default for images: the "
    "first four); gist:l2+rbf=0.5 is for one feature or view, with the width of rbf, as is "
    "--feature gist:distance=l2+rbf=0.5; precomputed: TRAIN holds matrices; kernel: matrices of "
    "kernels. Without it each column of numbers is a candidate by its squared difference");
  v("label_column", o.label_column, anything(),
    "column of a .csv or .tsv TRAIN that holds the cluster");
  v("exemplar_columns", o.exemplar_columns, anything(),
    "columns of TRAIN (4,7, counted from 0) that are no candidates but say what an exemplar costs: "
    "how sharp, central or trusted a sample is");
  v("exemplar_features", o.exemplar_features, anything().repeated(),
    "the same from a file with one row per row of TRAIN; once per TRAIN, in the same order");
}

struct LearnJob {
  LearnFiles files;
  ExemplarLearnOptions options;
};

struct LearnedJob {
  TrainingInput train;
  ExemplarLearnResult result;  // without rounds when it was stopped before the first
};

// Moves the options distance of --feature to --distance.
void take_distances(LearnFiles& files);

// Reads the sets; then learns from them.
TrainingInput read_training(const LearnJob& job, Monitor& monitor);
LearnedJob learn_distance(TrainingInput train, const LearnJob& job, Monitor& monitor);

// The run folder `folder`. The files of `job` are what its command will name.
void write_learned(LearnJob& job, const LearnedJob& learned, const std::string& folder, bool force);

// The candidates and, where it has a part, the full metric, whose weight is inside it.
struct Listed {
  std::vector<std::string> names;
  std::vector<double> weights, shares;

  explicit Listed(const ExemplarLearnResult& result);
};

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// Images of the experiments of [Komodakis11, section 6]: their features as candidate distances,
// noise beside them, halves.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "milieu/exemplar/learn/pair_features.h"
#include "milieu/linalg/matrix.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

struct ImageSetting {
  std::string name;  // of table and files
  std::string set;   // folder of the data sets
  std::string title;
  std::string paper = {};  // its figures
  std::string features;    // list, one cached folder each
  std::string distances =
      {};                 // of each feature, as parse_distance_list reads them; empty: all four
  int max_per_class = 0;  // images per class, drawn at random; 0: all
  int rounds = 600;       // of training; chosen without the test halves
  int own_runs = 10;
};

// All images with the columns of all features side by side.
struct ImageSet {
  Matrix<float> points;
  std::vector<std::string> paths;  // below root
  std::string root;
  std::vector<int> classes;
  int num_classes = 0;
  std::vector<CandidateDistance> candidates;
};

struct Half {
  Matrix<float> points;
  std::vector<int> classes;
  std::vector<int64_t> rows;  // in the whole set
};

// Computes the features, once, into a cache. False if stopped: finished work stays there.
bool load_images(const ImageSetting& setting, ReproduceRun& run, ImageSet& set);

// As many candidates of noise as there are real ones [Komodakis11, section 6].
void add_noise(ImageSet& set, uint64_t seed);

// Half of every class each, drawn at random.
std::pair<Half, Half> split_images(const ImageSet& set, uint64_t seed);

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// What learn.cc does before and after training: checks of the sets, screening of the features, and
// calibration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "milieu/exemplar/learn/learn.h"

namespace milieu::internal {

enum class LearnForm { Coordinates, Distances, Precomputed };

// Throws as learn_exemplar_distance says.
LearnForm check_learn_input(const LearnInput& input, const ExemplarLearnOptions& options);

// Throws DataError for an entry that is not finite, or negative off the diagonal; `name` says
// whose.
void check_distances(FloatView matrix, const std::string& name);

// Clusters of a checked set.
int num_clusters(const LearnSet& set);

// 1 for features that separate clusters: their distances to samples of other clusters exceed
// those to samples of the own one by more than `least_score` standard errors. All ones where the
// score is 0, and for fewer than a hundred samples.
std::vector<char> screen_features(const std::vector<std::unique_ptr<PairFeatures>>& features,
                                  const std::vector<LearnSet>& sets, double least_score,
                                  uint64_t seed);

// The factor of the model's penalty, from a fixed ladder around 1, under which the training sets
// are clustered best: highest mean accuracy. Where several factors in a row reach it, the middle
// one: new sets may be off to either side.
struct Calibration {
  double factor = 1;
  double accuracy = 0;        // mean over samples, at the factor
  double plain_accuracy = 0;  // at 1
};
Calibration calibrate_penalty(const LearnedDistance& model, const std::vector<LearnSet>& sets,
                              int num_threads, Monitor& monitor);

}  // namespace milieu::internal

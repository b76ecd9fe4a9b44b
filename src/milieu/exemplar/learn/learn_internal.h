// SPDX-License-Identifier: Apache-2.0
// What learn.cc does before and after training: checks of the sets, screening of the features,
// calibration, and the choice by cross-validation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "milieu/exemplar/learn/learn.h"

namespace milieu::internal {

enum class LearnForm { Coordinates, Distances, Precomputed };

// Throws as learn_exemplar_distance says.
LearnForm check_learn_input(const LearnInput& input, const ExemplarLearnOptions& options);

// Throws DataError for an entry that is not finite or, unless it may be, negative off the diagonal;
// `name` says whose.
void check_distances(FloatView matrix, const std::string& name, bool is_signed = false);

// Clusters of a checked set.
int num_clusters(const LearnSet& set);

// 1 for features that separate clusters: their distances to samples of other clusters exceed
// those to samples of the own one by more than `least_score` standard errors. All ones where the
// score is 0, and for fewer than a hundred samples.
std::vector<char> screen_features(const std::vector<std::shared_ptr<PairFeatures>>& features,
                                  const std::vector<LearnSet>& sets, double least_score,
                                  uint64_t seed);

// n x r: the points, or the roots of their columns, times `map`.
Matrix<float> metric_coordinates(FloatView map, const std::vector<int64_t>& is_root,
                                 FloatView points, int num_threads);

// What training gives. Distances of the training sets are those of `model`, but with cross-fitted
// metrics: what is chosen by them is not flattered by a metric that has seen their samples.
struct TrainedDistance {
  LearnedDistance model;    // penalty as trained
  LearnedDistance average;  // unlearned: every candidate divided by its mean
  std::vector<Matrix<float>> costs, average_costs;  // per set; has_own_costs(): their diagonals
                                                    // are what exemplars cost beyond the penalty
  std::optional<LearnedDistance> known;    // along the axes of known clusters, of `model`'s
                                           // candidates; without use, penalty as trained
  std::vector<Matrix<float>> known_costs;  // likewise cross-fitted
  bool known_is_nearer = false;  // nearest samples are of the same cluster more often along them
  std::vector<double> means;     // F and metrics, over the pairs of all sets
  std::vector<double> scale;     // likewise; 0 for a constant feature and one that was screened off
  std::vector<char> is_kept;     // F: candidates that were not screened off
  double metric_share = 0;       // of the mean learned distance
  CrfTrainResult training;
  std::vector<std::string> warnings;
};
// Nothing when the monitor stops it before the first round. The candidates that are kept may be
// known; else they are screened.
std::optional<TrainedDistance> train_distance(const LearnInput& input,
                                              const ExemplarLearnOptions& options, Monitor& monitor,
                                              std::vector<char> is_kept = {});

// The upper one of two.
double median_of(std::vector<double> values);

// The share of samples whose nearest other one is of their cluster.
double nearest_share(const std::vector<Matrix<float>>& costs, const std::vector<LearnSet>& sets);
// Features of exemplars, of all sets.
struct OwnCosts {
  std::vector<Matrix<float>>
      features;                    // per set, n x G, less their means; of diagonals as they are
  std::vector<double> means;       // G
  std::vector<double> scale;       // G: 1 / mean size, 0 for a constant one
  std::vector<std::string> names;  // G
  bool is_shared = false;          // diagonals, with the weights of the matrices
  bool empty() const { return features.empty(); }
};
OwnCosts make_own_costs(const LearnInput& input, const ExemplarLearnOptions& options);
// Throws InvalidArgument or DataError where they do not fit the sets.
void check_own_costs(const LearnInput& input, const ExemplarLearnOptions& options);
// Writes what exemplars cost beyond the penalty, before its growth, to the diagonal.
void put_own_costs(const LearnedDistance& model, FloatView points,
                   const std::vector<FloatView>& matrices, FloatView features,
                   MatrixView<float> costs);

// What calibrate() changed.
struct Calibration {
  double factor = 1;          // of the penalty
  double exponent = 0;        // of its growth with the number of samples
  double accuracy = 0;        // mean over training samples, at the factor
  double plain_accuracy = 0;  // at 1
};
// Sets the model's penalty to the one, from a ladder around it, under which the training sets are
// clustered best (highest mean accuracy; of several in a row, the middle one), and the rule by
// which it grows from the best penalties of sub-samples. Unchanged if stopped.
Calibration calibrate_penalty(const std::vector<LearnSet>& sets,
                              const std::vector<Matrix<float>>& costs, uint64_t seed,
                              int num_threads, Monitor& monitor, LearnedDistance& model);

// The middle of the longest run of highest entries; of two as long, the one nearer to the middle.
int middle_of_best(const std::vector<double>& values);

struct SubSample {
  Matrix<float> costs;
  std::vector<int> labels;
};
SubSample take_samples(const Matrix<float>& costs, const std::vector<int>& labels,
                       const std::vector<int>& rows);
// The share of every cluster, at least two samples of those that have as many; ascending.
std::vector<int> draw_samples(const std::vector<int>& labels, double share, uint64_t seed);

// Mean accuracies over held-out halves.
struct Validation {
  double learned_exemplars = 0, learned_cut = 0;
  double average_exemplars = 0, average_cut = 0;
  std::vector<double> same_cluster;  // of the distance that is used: LearnedDistance
  bool uses_average = false;         // it is ahead by more than its standard error
  bool uses_cut = false;             // of the distance that is used
  // Of the axes of known clusters, beside whatever is used for others.
  double known_exemplars = 0, known_cut = 0;
  std::vector<double> known_same_cluster;
  bool uses_known = false;  // they are ahead of the distance that is used
  bool cuts_known = false;
};
// Learns from one half of the sets (of every cluster, where there is one set) and clusters the
// other one, both ways, options.validations times. Candidates are screened once, on all samples:
// halves are often too small for it. Nothing where the sets are too small, and if stopped.
std::optional<Validation> cross_validate(const LearnInput& input,
                                         const ExemplarLearnOptions& options,
                                         const std::vector<char>& is_kept, Monitor& monitor);

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// A learned distance, the result of learn.h, and its uses. Clustering: learned_costs() or
// apply_weights() and fit_exemplar with the model's penalty. Classification: the nearest training
// sample.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/exemplar/learn/pair_features.h"
#include "milieu/exemplar/search/exemplar.h"
#include "milieu/linalg/matrix.h"

namespace milieu {

struct LearnedDistance {
  static constexpr std::string_view kKind = "learned_distance";
  static constexpr int kFormatVersion = 1;
  std::vector<double> weights;  // F, of the candidates as given (not normalised)
  double penalty = 0;           // for exemplar clustering under this distance
  std::string form;             // "coordinates", "distances" or "precomputed"
  std::string names;            // of the candidates, one per line
  std::string distances;        // by name, one per line; only for "distances"
  std::vector<double> gammas;   // F, of rbf; only for "distances"
  std::vector<int64_t> first_columns, num_columns;  // F; only for "distances"
  int64_t num_point_columns = 0;                    // of the points; 0 for "precomputed"
  // For classification; empty when the training sets were matrices or their classes have no names.
  Matrix<float> samples;           // training points, m x num_point_columns
  std::vector<int> sample_labels;  // m
  std::string class_names;         // one per line
};

template <MaybeConst<LearnedDistance> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("weights", m.weights);
  v("penalty", m.penalty);
  v("form", m.form);
  v("names", m.names);
  v("distances", m.distances);
  v("gammas", m.gammas);
  v("first_columns", m.first_columns);
  v("num_columns", m.num_columns);
  v("num_point_columns", m.num_point_columns);
  v("samples", m.samples);
  v("sample_labels", m.sample_labels);
  v("class_names", m.class_names);
}

// Throws DataError when parts of a model read from a file do not match; `source` names the file.
void check_learned_distance(const LearnedDistance& model, const std::string& source);

// The candidates of a model of form "distances".
std::vector<CandidateDistance> candidates_of(const LearnedDistance& model);
// The names in a text of a model (names, distances, class_names): one per line.
std::vector<std::string> packed_names(const std::string& text);

// Points whose squared Euclidean distance is the learned one: each column times the root of its
// weight. For the form "coordinates" and weights >= 0.
Matrix<float> apply_weights(const LearnedDistance& model, FloatView points);

// Learned distances between rows of a and b, m x n. Incomplete when the monitor stops it.
Matrix<float> learned_costs(const LearnedDistance& model, FloatView a, FloatView b,
                            int num_threads = 0, Monitor& monitor = silent_monitor());
// The same from matrices of the candidates, in their order: form "precomputed".
Matrix<float> learned_costs(const LearnedDistance& model, const std::vector<FloatView>& matrices);

// Exemplar clustering of new samples under the learned distance and penalty. options.distance and,
// unless it is a number, options.penalty are ignored; num_clusters and the rest are used.
ExemplarResult fit_learned_exemplar(const LearnedDistance& model, FloatView points,
                                    ExemplarOptions options, Monitor& monitor = silent_monitor());
ExemplarResult fit_learned_exemplar(const LearnedDistance& model,
                                    const std::vector<FloatView>& matrices, ExemplarOptions options,
                                    Monitor& monitor = silent_monitor());

// Class of the nearest training sample under the learned distance; ties to the first sample.
std::vector<int> classify_learned(const LearnedDistance& model, FloatView points,
                                  int num_threads = 0, Monitor& monitor = silent_monitor());

}  // namespace milieu

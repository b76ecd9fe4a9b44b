// SPDX-License-Identifier: Apache-2.0
// A learned distance, the result of learn.h, and its uses. Clustering: fit_learned_exemplar.
// Classification: the nearest training sample.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/exemplar/learn/pair_features.h"
#include "milieu/exemplar/metric/known_clusters.h"
#include "milieu/exemplar/search/exemplar.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct LearnedDistance {
  static constexpr std::string_view kKind = "learned_distance";
  static constexpr int kFormatVersion = 2;
  std::vector<double> weights;  // F, of the candidates as given (not normalised)
  double penalty = 0;           // for exemplar clustering under this distance: penalty_for()
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
  // Since version 2; empty in older files.
  Matrix<float> metric;               // P, num_point_columns x r: |P^T (g(x) - g(y))|^2 is added
  std::vector<int64_t> metric_roots;  // num_point_columns; 1: g is the root of the column
  std::vector<double> penalty_rule;   // {n, e}: the penalty is for n samples and grows with the
                                      // e-th power of their number; empty: the same for any
  std::vector<double> same_cluster;   // {d}: pairs closer than d mean distances of their set rather
                                      // belong together, which says how many parts a cut has;
                                      // empty: as many as there are exemplars
  std::string grouping;               // "exemplars" or "cut": what auto means; empty: exemplars
  KnownClusters known;                // for sets that hold the clusters of the training sets
  // Costs of exemplars that depend on features of theirs; empty where all cost the same. The cost
  // of q is (penalty + sum_s exemplar_weights[s] (g_qs - exemplar_means[s])), times the growth
  // above.
  std::vector<double> exemplar_weights, exemplar_means;  // G
  std::string exemplar_names;                            // G, one per line
  std::vector<int64_t> exemplar_columns;  // the first of the G are these columns of the points
  std::vector<double> diagonal_factor;    // {f}: f sum_t w_t f_qq,t is added, from matrices
  std::vector<int64_t> is_signed;         // {1}: matrices may have negative entries
  std::string matrix_kind;  // "kernel": the matrices are distances of kernels; else empty
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
  visit_optional(v, "metric", m.metric);
  visit_optional(v, "metric_roots", m.metric_roots);
  visit_optional(v, "penalty_rule", m.penalty_rule);
  visit_optional(v, "same_cluster", m.same_cluster);
  visit_optional(v, "grouping", m.grouping);
  visit_arrays(m.known, v);
  visit_optional(v, "exemplar_weights", m.exemplar_weights);
  visit_optional(v, "exemplar_means", m.exemplar_means);
  visit_optional(v, "exemplar_names", m.exemplar_names);
  visit_optional(v, "exemplar_columns", m.exemplar_columns);
  visit_optional(v, "diagonal_factor", m.diagonal_factor);
  visit_optional(v, "is_signed", m.is_signed);
  visit_optional(v, "matrix_kind", m.matrix_kind);
}

// Throws DataError when parts of a model read from a file do not match; `source` names the file.
void check_learned_distance(const LearnedDistance& model, const std::string& source);

// The candidates of a model of form "distances".
std::vector<CandidateDistance> candidates_of(const LearnedDistance& model);
// The names in a text of a model (names, distances, class_names): one per line.
std::vector<std::string> packed_names(const std::string& text);

// Points whose squared Euclidean distance is the learned one: each column times the root of its
// weight, then the columns of the metric. For the form "coordinates" and weights >= 0.
Matrix<float> apply_weights(const LearnedDistance& model, FloatView points, int num_threads = 0);

// Learned distances between rows of a and b, m x n. Incomplete when the monitor stops it.
Matrix<float> learned_costs(const LearnedDistance& model, FloatView a, FloatView b,
                            int num_threads = 0, Monitor& monitor = silent_monitor());
// The same from matrices of the candidates, in their order: form "precomputed".
Matrix<float> learned_costs(const LearnedDistance& model, const std::vector<FloatView>& matrices);

// The distance along the axes of the known clusters, as one of its own: weights 0, a metric, and
// what belongs to them. `model` must know clusters.
LearnedDistance known_distance(const LearnedDistance& model);
// The one that classifies better by the nearest training sample: itself or that.
LearnedDistance classifying_distance(const LearnedDistance& model);
// Whether points hold the known clusters: how far they are from their centers, and the limit.
struct KnownCheck {
  double distance = 0, limit = 0;
  bool holds_known() const { return distance <= limit; }
};
KnownCheck compare_with_known(const LearnedDistance& model, FloatView points, int num_threads = 0);

// The cost of an exemplar in a set of n samples.
double penalty_for(const LearnedDistance& model, int64_t n);

// What is known of the samples as exemplars, beside the points or matrices.
struct ExemplarCosts {
  FloatView features = {};                 // n x G': what the model learned beside its columns
  std::span<const double> penalties = {};  // n, in place of what was learned; or empty
};

// Whether exemplars of one set cost differently under this model.
bool has_own_costs(const LearnedDistance& model);
// d_qq of every sample. Throws InvalidArgument where the features are not those of the training.
std::vector<double> exemplar_penalties(const LearnedDistance& model, FloatView points,
                                       FloatView features);
std::vector<double> exemplar_penalties(const LearnedDistance& model,
                                       const std::vector<FloatView>& matrices, FloatView features);

// Clusters new samples under the learned distance, or along the axes of the known clusters where
// they hold these (options.known_clusters): by exemplars with the learned penalty, or by the
// normalized cut of the distances, as options.grouping says. A penalty that is given (not the
// default), penalties of single samples, or a cut whose distances exceed max_memory_gb mean
// exemplars. options.distance is
// ignored; num_clusters and the rest are used. Of a cut, the exemplars are the samples with the
// least sum of distances to their parts, `energy` is the sum of distances to them, and the bound is
// that of any choice of as many exemplars.
ExemplarResult fit_learned_exemplar(const LearnedDistance& model, FloatView points,
                                    ExemplarOptions options, Monitor& monitor = silent_monitor(),
                                    const ExemplarCosts& costs = {});
ExemplarResult fit_learned_exemplar(const LearnedDistance& model,
                                    const std::vector<FloatView>& matrices, ExemplarOptions options,
                                    Monitor& monitor = silent_monitor(),
                                    const ExemplarCosts& costs = {});

// Class of the nearest training sample under the learned distance, or along the axes of the known
// clusters where training found these better; ties to the first sample.
std::vector<int> classify_learned(const LearnedDistance& model, FloatView points,
                                  int num_threads = 0, Monitor& monitor = silent_monitor());
// The same from matrices of the candidates, m new samples x training samples of all sets, in their
// order: form "precomputed".
std::vector<int> classify_learned(const LearnedDistance& model,
                                  const std::vector<FloatView>& matrices);

}  // namespace milieu

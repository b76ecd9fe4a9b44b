// SPDX-License-Identifier: Apache-2.0
// The models whose files are kept here: small ones made by hand, so that what they predict follows
// from their numbers and not from a fit. Add a kind, or a new format version of one, by a function
// here, a line in write_models.cc and a test; never change what is there.
#pragma once

#include <initializer_list>
#include <vector>

#include "milieu/cac/cac.h"
#include "milieu/classic/agglomerative/agglomerative.h"
#include "milieu/classic/counts/bags.h"
#include "milieu/classic/counts/jsom.h"
#include "milieu/classic/counts/multinomials.h"
#include "milieu/classic/counts/topics.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/kmodes/kmodes.h"
#include "milieu/classic/meanshift/mean_shift.h"
#include "milieu/classic/ncut/ncut.h"
#include "milieu/dcp/dcp.h"
#include "milieu/dlgmm/dlgmm.h"
#include "milieu/exemplar/learn/learned_distance.h"
#include "milieu/exemplar/search/exemplar.h"
#include "milieu/exemplar/search/kmedoids.h"
#include "milieu/icc/icc.h"
#include "milieu/icc/icc_classifier.h"

namespace milieu::compat {

// The options that every file carries: text that needs escaping inside the header.
inline constexpr const char* kOptions = "{\n  \"num_clusters\": 2,\n  \"note\": \"a \\\"b\\\"\"\n}";

template <class T>
Matrix<T> matrix(int64_t rows, int64_t cols, std::initializer_list<T> values) {
  Matrix<T> m(rows, cols);
  std::copy(values.begin(), values.end(), m.data());
  return m;
}

// Places around (0, 0) and (10, 0); the middle one is nearer to the first.
inline Matrix<float> plane_points() { return matrix<float>(4, 2, {1, 1, 9, -1, 4.9f, 0, 12, 3}); }

inline KMeansModel kmeans_v1() { return {matrix<float>(2, 2, {0, 0, 10, 0})}; }
// Version 2 keeps the distance: the centres are directions.
inline KMeansModel kmeans_v2() {
  return {matrix<float>(2, 2, {0.6f, 0.8f, 1, 0}), KMeansDistance::Cosine};
}

// Two words and two phrases, one word each.
inline CacModel cac_v1() {
  CacModel m;
  m.prototypes = matrix<float>(2, 2, {0, 0, 10, 0});
  m.view_dims = {2};
  m.view_words = {2};
  m.scales = {0.25};
  m.compositions = matrix<float>(2, 2, {1, 0, 0, 1});
  m.lambda = 1.5;
  m.num_neighbors = 1;
  return m;
}

// Version 2 keeps what finds phrases by shares: two fine words, no features to speak of.
inline CacModel cac_v2() {
  CacModel m = cac_v1();
  m.evidence.lexicon = matrix<float>(2, 2, {0, 0, 10, 0});
  m.evidence.lexicon_words = {2};
  m.evidence.means = {5, 0};
  m.evidence.phrases = matrix<float>(2, 4, {0, 1, 0, 0, 1, 0, 0, 0});
  m.evidence.weights = {1, 0.001, 1};
  return m;
}

// Counts of two words: rows that prefer the first, the second, the first.
inline Matrix<float> count_points() { return matrix<float>(3, 2, {8, 1, 2, 9, 5, 4}); }

inline BagsModel bags_v1() {
  BagsModel m;
  m.weighting = BagWeighting::TfIdf;
  m.idf = {0.5, 0.5};
  m.centers = matrix<float>(2, 2, {1, 0, 0, 1});
  return m;
}

inline MultinomialsModel multinomials_v1() {
  return {{0.5, 0.5}, matrix<double>(2, 2, {0.75, 0.25, 0.25, 0.75})};
}

// Two topics of one word each, two clusters of one topic each.
inline JsomModel jsom_v1() {
  return {{0.5, 0.5}, matrix<double>(2, 2, {4, 1, 1, 4}), matrix<double>(2, 2, {90, 10, 10, 90})};
}

inline TopicsModel topics_v1() { return {0.125, matrix<double>(2, 2, {90, 10, 10, 90})}; }

// Two words at (0, 0) and (10, 0), one favoured by each cluster.
inline DlgmmModel dlgmm_v1() {
  DlgmmModel m;
  m.weights = {0.5, 0.5};
  m.means = matrix<double>(2, 2, {2, -2, -2, 2});
  m.covariances = matrix<double>(2, 2, {0.5, 0.5, 0.5, 0.5});
  m.words = matrix<double>(2, 2, {0, 0, 10, 0});
  m.word_variances = matrix<double>(1, 1, {4});
  return m;
}
// With the projection of descriptors that version 2 keeps: their mean and two components.
inline DlgmmModel dlgmm_v2() {
  DlgmmModel m = dlgmm_v1();
  m.projection = matrix<float>(3, 3, {1, 2, 3, 1, 0, 0, 0, 1, 0});
  return m;
}

// Version 3 may have factors and image vectors: the second number of a vector tells the cluster.
inline DlgmmModel dlgmm_v3() {
  DlgmmModel m = dlgmm_v2();
  m.covariance = DlgmmCovariance::LowRank;
  m.covariances = matrix<double>(1, 2, {0.5, 0.5});
  m.factors = matrix<double>(2, 1, {1, -1});
  m.origin = matrix<double>(1, 2, {0, 0});
  m.factor_means = matrix<double>(2, 1, {2, -2});
  m.factor_variances = {0.5};
  m.image_projection = matrix<float>(2, 2, {1, 1, 0, 1});
  m.image_means = matrix<double>(2, 1, {0, 9});
  m.image_variances = {1};
  m.image_weight = {1};
  return m;
}

inline KModesModel kmodes_v1() { return {matrix<float>(2, 4, {0, 0, 0, 0, 1, 1, 1, 1})}; }
inline Matrix<float> bit_points() {
  return matrix<float>(3, 4, {0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 0});
}

// A narrow component at (10, 0) inside a wide one at (0, 0).
inline GmmModel gmm_diagonal_v1() {
  GmmModel m;
  m.covariance = GmmCovariance::Diagonal;
  m.weights = {0.5, 0.5};
  m.means = matrix<double>(2, 2, {0, 0, 10, 0});
  m.covariances = matrix<double>(2, 2, {100, 100, 1, 1});
  return m;
}
inline GmmModel gmm_full_v1() {
  GmmModel m = gmm_diagonal_v1();
  m.covariance = GmmCovariance::Full;
  m.covariances = matrix<double>(2, 4, {100, 0, 0, 100, 1, 0, 0, 1});
  return m;
}

inline MeanShiftModel meanshift_v1() {
  MeanShiftModel m;
  m.modes = matrix<float>(2, 2, {0, 0, 10, 0});
  m.bandwidth = 2.5;
  m.cluster_all = 0;
  return m;
}

// (x.y + 1)^2 with (0, 0) and (10, 0), weighed against each other.
inline DcpModel dcp_v1() {
  DcpModel m;
  m.kernel = "polynomial";
  m.gamma = 1;
  m.coef0 = 1;
  m.degree = 2;
  m.samples = matrix<float>(2, 2, {0, 0, 10, 0});
  m.coefficients = matrix<double>(2, 2, {3000, 0, 0, 1});
  m.offsets = {0, 0};
  return m;
}

inline ExemplarModel exemplar_v1() {
  return {{3, 17}, matrix<float>(2, 2, {0, 0, 10, 0}), "euclidean"};
}
inline KMedoidsModel kmedoids_v1() {
  return {{3, 17}, matrix<float>(2, 2, {0, 0, 10, 0}), "euclidean"};
}

inline AgglomerativeModel agglomerative_v1() {
  return {matrix<double>(2, 4, {0, 1, 0.5, 2, 2, 3, 4, 3}), {0, 0, 1}};
}

inline NcutModel ncut_v1() { return {matrix<float>(3, 1, {1, 1, -1}), {0, 0, 1}}; }

// Three cells along the first axis: sub-class 0 left of the middle, 1 from there on.
inline IccModel icc_v1() {
  IccModel m;
  m.axes = matrix<double>(1, 2, {1, 0});
  m.origin = {0};
  m.low = {0};
  m.high = {10};
  m.grid = {3};
  m.sigmas = {1};
  m.subclasses = {2};
  m.maps = matrix<float>(1, 3, {1, 0, 1});
  m.cell_labels = {0, 0, 1};
  m.maxima = matrix<double>(2, 1, {0, 10});
  m.heights = {1, 1};
  return m;
}
// Class 1 at both ends of the first axis, class 0 in the middle.
inline IccClassifierModel icc_classifier_v1() {
  IccClassifierModel m;
  m.axes = matrix<double>(1, 2, {1, 0});
  m.origin = {0};
  m.classifier.means = matrix<double>(3, 1, {5, 0, 10});
  m.classifier.covariances = matrix<double>(3, 1, {1, 1, 1});
  m.classifier.log_priors = {-1, -1, -1};
  m.classifier.class_from_subclass = {0, 1, 1};
  return m;
}

// The second column counts four times as much as the first: (4.9, 0) is nearer to (0, 0).
inline LearnedDistance learned_distance_v1() {
  LearnedDistance m;
  m.weights = {1, 4};
  m.penalty = 2.5;
  m.form = "coordinates";
  m.names = "x\ny";
  m.num_point_columns = 2;
  m.samples = matrix<float>(3, 2, {0, 0, 10, 0, 11, 5});
  m.sample_labels = {1, 0, 1};
  m.class_names = "far\nnear";
  return m;
}

// The metric adds nine times the squared difference of the first columns.
inline LearnedDistance learned_distance_v2() {
  LearnedDistance m = learned_distance_v1();
  m.metric = matrix<float>(2, 1, {3, 0});
  m.metric_roots = {0, 0};
  m.penalty_rule = {100, 0.5};
  m.same_cluster = {0.75};
  m.grouping = "cut";
  return m;
}

}  // namespace milieu::compat

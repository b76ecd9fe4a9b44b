// SPDX-License-Identifier: Apache-2.0
// k-medoids: exactly k exemplars, no penalty. Swaps are found with nearest and second-nearest
// bookkeeping and made at once, as FasterPAM does [Schubert21]. exemplar.h with num_clusters > 0
// solves the same problem with a lower bound.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/model_visitor.h"
#include "milieu/exemplar/search/exemplar.h"

namespace MILIEU_API milieu {

struct KMedoidsOptions {
  int num_clusters = 8;                     // k; at most the number of samples
  Distance distance = Distance::Euclidean;  // between points; precomputed: points are the costs
  int num_restarts = 1;                     // the first is greedy (BUILD), the others random
  int max_iterations = 100;                 // passes over all candidates
  double max_memory_gb = 4;                 // for the n x n distances; more is refused
  uint64_t seed = 1;
  int num_threads = 0;
};

template <class Visitor>
void visit_fields(KMedoidsOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, at_least(1).alias("k"), "number of medoids");
  v("distance", o.distance, distance_choices(),
    "distance between samples; precomputed means INPUT is a square matrix of costs");
  v("num_restarts", o.num_restarts, at_least(1).alias("restarts"),
    "restarts: the first is greedy, the others random; the best is kept");
  v("max_iterations", o.max_iterations, at_least(1),
    "maximum iterations (passes over all candidates) per restart");
  v("max_memory_gb", o.max_memory_gb, above(0).advanced(), "memory for distances in gigabytes");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

// Exactly one of points and costs is given (see ExemplarInput). The cost of a sample to itself is
// 0; a medoid always serves itself.
struct KMedoidsInput {
  FloatView points;
  FloatView costs;
  std::vector<int> initial_medoids;  // k rows, or empty; given medoids make it a single start
};

struct KMedoidsModel {
  static constexpr std::string_view kKind = "kmedoids";
  static constexpr int kFormatVersion = 1;
  std::vector<int64_t> rows;  // the medoids' rows in the training data, ascending
  Matrix<float> medoids;      // their features, k x d; empty when only costs were given
  std::string distance;       // by name
};

template <MaybeConst<KMedoidsModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("rows", m.rows);
  v("medoids", m.medoids);
  v("distance", m.distance);
}

struct KMedoidsResult {
  std::vector<int> labels;  // n, place of the sample's medoid in model.rows
  KMedoidsModel model;
  RunSummary summary;  // objective: sum of the costs to the medoids
};

KMedoidsResult fit_kmedoids(const KMedoidsInput& input, const KMedoidsOptions& options,
                            Monitor& monitor = silent_monitor());

// Nearest medoid of each row; ties go to the lowest label.
std::vector<int> predict(const KMedoidsModel& model, FloatView points, int num_threads = 0);

}  // namespace milieu

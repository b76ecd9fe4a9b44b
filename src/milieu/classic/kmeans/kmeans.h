// SPDX-License-Identifier: Apache-2.0
// k-means: Lloyd's algorithm from k-means++ starts, by Euclidean distances or by the directions of
// the samples. The public interface; the loop is in kmeans.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/inputs.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/ranks/checkpoint.h"
#include "milieu/base/ranks/rows.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

enum class KMeansInit { PlusPlus, Random };
// Cosine is spherical k-means: samples and centres count as if they had norm 1.
enum class KMeansDistance { Euclidean, Cosine };

// The names in options and model files.
const char* to_string(KMeansDistance distance);
KMeansDistance kmeans_distance_from(std::string_view name);  // throws DataError for another name

struct KMeansOptions {
  int num_clusters = 8;         // k; at most the number of samples
  int num_restarts = 10;        // independent restarts; the lowest objective is kept
  int max_iterations = 300;     // assignment + update iterations of one restart
  double rel_tolerance = 1e-4;  // stop when the objective falls by less than this fraction; 0: run
                                // until no label changes
  KMeansInit init = KMeansInit::PlusPlus;
  KMeansDistance distance = KMeansDistance::Euclidean;
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
};

template <class Visitor>
void visit_fields(KMeansOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, at_least(1).alias("k"), "number of clusters");
  v("num_restarts", o.num_restarts, at_least(1).alias("restarts"),
    "independent restarts; the best is kept");
  v("max_iterations", o.max_iterations, at_least(1), "maximum iterations per restart");
  v("rel_tolerance", o.rel_tolerance, at_least(0),
    "stop when the objective falls by less than this fraction; 0 runs until no label changes");
  v("init", o.init,
    one_of<KMeansInit>({{"kmeans++", KMeansInit::PlusPlus}, {"random", KMeansInit::Random}})
        .former("k-means++", KMeansInit::PlusPlus),
    "how the first centres are drawn");
  v("distance", o.distance,
    one_of<KMeansDistance>(
        {{"euclidean", KMeansDistance::Euclidean}, {"cosine", KMeansDistance::Cosine}}),
    "distance that is minimised; cosine compares directions (spherical k-means), as if every row "
    "had norm 1");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

struct KMeansInput {
  static constexpr int64_t kBlockRows = 1024;  // what rows that ranks share are cut for

  FloatView points;                 // n x d samples, rows
  std::span<const double> weights;  // n sample weights >= 0, or empty: all 1
  FloatView initial_centers;        // k x d, or empty; given centres make it a single start
  // Where several ranks share the rows: points, weights and labels are this rank's own. Null: all
  // are here.
  const Rows* rows = nullptr;
  Checkpoint* checkpoint = nullptr;  // keeps the state of the fit, and has one to go on from
};

template <class Visitor>
void visit_inputs(KMeansInput& in, Visitor&& v) {
  v("weights", in.weights, InputRule{InputKind::Weights, "n"}, "weight of every sample");
  v("initial_centers", in.initial_centers, InputRule{InputKind::Table, "k x d"},
    "initial centres, one per row; they replace all restarts");
}

// What predicts for new samples.
struct KMeansModel {
  static constexpr std::string_view kKind = "kmeans";
  static constexpr int kFormatVersion = 2;
  Matrix<float> centers;  // k x d; of norm 1 for the distance cosine
  KMeansDistance distance = KMeansDistance::Euclidean;
};

// What is saved of a model: every array and scalar, by name (store/ reads and writes from this).
template <MaybeConst<KMeansModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("centers", m.centers);
  if constexpr (requires { v.has("distance"); })
    if (!v.has("distance")) return;  // a file of version 1
  visit_enum(v, "distance", m.distance, kmeans_distance_from);
}

struct KMeansResult {
  std::vector<int> labels;  // n, in [0, k); equal to predict(model, points)
  KMeansModel model;
  // Objective: weighted sum of squared distances to the nearest centre; for the distance cosine,
  // rows have norm 1 there, so that each is 2 (1 - cosine).
  RunSummary summary;
};

KMeansResult fit_kmeans(const KMeansInput& input, const KMeansOptions& options,
                        Monitor& monitor = silent_monitor());

// Nearest centre of each row by the model's distance; ties go to the lowest index, and so does a
// row of zeros, which has no direction.
std::vector<int> predict(const KMeansModel& model, FloatView points, int num_threads = 0);

}  // namespace milieu

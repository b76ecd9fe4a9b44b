// SPDX-License-Identifier: Apache-2.0
// k-modes for binary vectors: k-means with the Hamming distance and the majority vote [Huang98].
// The public interface; the loop is in kmodes.cc, the steps in kmodes_steps.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/inputs.h"
#include "milieu/base/job/restart_range.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// k-modes++ draws samples in proportion to their distance from the modes so far; Random draws them
// without replacement.
enum class KModesInit { PlusPlus, Random };

struct KModesOptions {
  int num_clusters = 8;      // k; at most the number of samples
  int num_restarts = 10;     // independent restarts; the lowest objective is kept
  int max_iterations = 300;  // assignment + vote iterations of one restart
  double rel_tolerance = 0;  // stop when the objective falls by less than this fraction; 0: run
                             // until it no longer falls
  KModesInit init = KModesInit::PlusPlus;
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
  // Not an option: for work in shards (base/job/restart_range.h).
  RestartRange restart_range = {};
  static constexpr RestartChoice kRestartChoice = RestartChoice::LowestObjective;
};

template <class Visitor>
void visit_fields(KModesOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, at_least(1).alias("k"), "number of clusters");
  v("num_restarts", o.num_restarts, at_least(1).alias("restarts"),
    "independent restarts; the best is kept");
  v("max_iterations", o.max_iterations, at_least(1), "maximum iterations per restart");
  v("rel_tolerance", o.rel_tolerance, at_least(0),
    "stop when the objective falls by less than this fraction; 0 runs until it no longer falls");
  v("init", o.init,
    one_of<KModesInit>({{"kmodes++", KModesInit::PlusPlus}, {"random", KModesInit::Random}})
        .former("k-modes++", KModesInit::PlusPlus),
    "how the first modes are drawn");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

struct KModesInput {
  FloatView points = {};                 // n x d samples, rows; every entry 0 or 1
  std::span<const double> weights = {};  // n sample weights >= 0, or empty: all 1
  FloatView initial_modes = {};  // k x d of 0 and 1, or empty; given modes make it a single start
};

template <class Visitor>
void visit_inputs(KModesInput& in, Visitor&& v) {
  v("weights", in.weights, InputRule{InputKind::Weights, "n"}, "weight of every sample");
  v("initial_modes", in.initial_modes, InputRule{InputKind::Table, "k x d"},
    "initial modes, one per row; they replace all restarts");
}

// What predicts for new samples.
struct KModesModel {
  static constexpr std::string_view kKind = "kmodes";
  static constexpr int kFormatVersion = 1;
  Matrix<float> modes;  // k x d of 0 and 1
};

// What is saved of a model: every array and scalar, by name (store/ reads and writes from this).
template <MaybeConst<KModesModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("modes", m.modes);
}

struct KModesResult {
  std::vector<int> labels;  // n, in [0, k); equal to predict(model, points)
  KModesModel model;
  RunSummary summary;  // objective: weighted sum of Hamming distances to the nearest mode
};

// Throws InvalidArgument for options out of range, empty points, an entry other than 0 and 1 (named
// by row and column), more clusters than samples, and weights or modes that do not fit; DataError
// for points that are not finite. A stopped fit returns the best complete state; one that is
// stopped before its first assignment still makes that one.
KModesResult fit_kmodes(const KModesInput& input, const KModesOptions& options,
                        Monitor& monitor = silent_monitor());

// Nearest mode of each row; ties go to the lowest index. The rows must hold 0 and 1 only.
std::vector<int> predict(const KModesModel& model, FloatView points, int num_threads = 0);

}  // namespace milieu

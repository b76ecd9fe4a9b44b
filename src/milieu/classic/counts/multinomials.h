// SPDX-License-Identifier: Apache-2.0
// Mixture of multinomials: rows of counts, each drawn from one of k distributions over words, by EM
// [Nigam00]. A baseline of dlgmm: what JSOM is without its topics.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/job/restart_range.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/ranks/rows.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct MultinomialsOptions {
  int num_clusters = 8;
  double smoothing = 0.1;  // added to the count of each word in each cluster (a Dirichlet prior)
  int num_restarts = 5;    // independent restarts; the highest objective is kept
  int max_iterations = 300;
  double rel_tolerance = 1e-7;  // stop when the objective rises by less than this fraction
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
  // Not an option: for work in shards (base/job/restart_range.h).
  RestartRange restart_range = {};
  static constexpr RestartChoice kRestartChoice = RestartChoice::HighestObjective;
};

template <class Visitor>
void visit_fields(MultinomialsOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, at_least(1).alias("k"), "number of clusters");
  v("smoothing", o.smoothing, above(0),
    "added to the count of every word in every cluster; larger values draw clusters towards equal "
    "frequencies");
  v("num_restarts", o.num_restarts, at_least(1).alias("restarts"),
    "independent restarts; the best is kept");
  v("max_iterations", o.max_iterations, at_least(1), "maximum iterations per restart");
  v("rel_tolerance", o.rel_tolerance, at_least(0),
    "stop when the objective rises by less than this fraction; 0 runs max_iterations");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

struct MultinomialsInput {
  static constexpr int64_t kBlockRows = 64;  // what rows that ranks share are cut for

  FloatView counts;  // n x V, >= 0
  // Where several ranks share the rows: counts are this rank's own, and
  // so are labels and probabilities. Null: all are here.
  const Rows* rows = nullptr;
};

struct MultinomialsModel {
  static constexpr std::string_view kKind = "multinomials";
  static constexpr int kFormatVersion = 1;
  std::vector<double> weights;  // k, sum 1
  Matrix<double> words;         // k x V: frequencies of words, rows sum to 1, all above 0
};

template <MaybeConst<MultinomialsModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("weights", m.weights);
  v("words", m.words);
}

struct MultinomialsResult {
  std::vector<int> labels;       // n, in [0, k): the most probable; equal to predict(model, counts)
  Matrix<double> probabilities;  // n x k
  MultinomialsModel model;
  // objective, maximised: log likelihood without the multinomial coefficients, plus
  // smoothing * sum of the log frequencies.
  RunSummary summary;
};

// Throws InvalidArgument for options out of range and empty counts; DataError for counts that are
// negative or not finite. A stopped fit returns the best complete state.
MultinomialsResult fit_multinomials(const MultinomialsInput& input,
                                    const MultinomialsOptions& options,
                                    Monitor& monitor = silent_monitor());

// n x k: probabilities of the clusters of each row; rows sum to 1.
Matrix<double> cluster_probabilities(const MultinomialsModel& model, FloatView counts,
                                     int num_threads = 0);
// The most probable cluster of each row; ties go to the lowest index.
std::vector<int> predict(const MultinomialsModel& model, FloatView counts, int num_threads = 0);

}  // namespace milieu

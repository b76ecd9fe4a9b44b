// SPDX-License-Identifier: Apache-2.0
// Learning a distance from example clusterings [Komodakis11, sections 3 and 4]: weights w >= 0 of
// the squared differences of coordinates, such that exemplar clustering under the weighted distance
// gives the partitions shown. Max-margin training by dual decomposition: every sample and every
// true cluster is a small problem (a slave) with a closed form; their sum bounds the loss.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"

namespace milieu {

enum class LearnRegularizer { L1, L2 };

struct ExemplarLearnOptions {
  double alpha = 1;          // margin for each exemplar too many or too few in a true cluster
  double beta = 1;           // margin for each sample outside its true cluster
  double penalty = 0;        // d_qq; 0: by rule, the larger of 2 alpha and beta n / (2 clusters)
  int max_iterations = 200;  // rounds
  double step = 0.2;         // of the weights (AdaGrad)
  double regularization = 1e-3;  // tau; larger: fewer and smaller weights
  LearnRegularizer regularizer = LearnRegularizer::L1;
  bool normalize = true;     // divide each feature by its mean over all pairs first
  double max_memory_gb = 4;  // for distances and duals of all sets; more is refused
  uint64_t seed = 1;         // nothing is random; reported
  int num_threads = 0;
};

template <class Visitor>
void visit_fields(ExemplarLearnOptions& o, Visitor&& v) {
  v("alpha", o.alpha, above(0), "margin for exemplars too many or too few in a true cluster");
  v("beta", o.beta, above(0), "margin for each sample outside its true cluster");
  v("penalty", o.penalty, at_least(0), "cost of each exemplar; 0 takes it from the cluster sizes");
  v("max_iterations", o.max_iterations, at_least(1).alias("rounds"), "rounds of training");
  v("step", o.step, above(0).advanced(), "length of the weights' steps");
  v("regularization", o.regularization, at_least(0), "price of the weights; larger gives fewer");
  v("regularizer", o.regularizer,
    one_of<LearnRegularizer>({{"l1", LearnRegularizer::L1}, {"l2", LearnRegularizer::L2}}),
    "how the weights are priced");
  v("normalize", o.normalize, anything(), "divide each feature by its mean over all pairs first");
  v("max_memory_gb", o.max_memory_gb, above(0).advanced(), "memory for distances and duals");
  v("seed", o.seed, at_least(0), "start of all random numbers");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

// One example: points and their true clusters.
struct LearnSet {
  FloatView points;         // n x d; all sets have the same d
  std::vector<int> labels;  // n, 0 .. clusters - 1, none empty
};

struct LearnedDistance {
  static constexpr std::string_view kKind = "learned_distance";
  static constexpr int kFormatVersion = 1;
  std::vector<double> weights;  // d, of the squared differences of coordinates as given
  double penalty = 0;           // for exemplar clustering under this distance
};

template <class Visitor>
void visit_arrays(LearnedDistance& m, Visitor&& v) {
  v("weights", m.weights);
  v("penalty", m.penalty);
}

struct ExemplarLearnResult {
  LearnedDistance model;  // mean weights of the second half of the rounds
  RunSummary summary;     // objective: the bound of the loss at the last round, its trace
};

// Throws InvalidArgument where a set cannot teach (one cluster that holds everything, or every
// sample alone), where widths differ, or where the penalty is alpha or less: single samples would
// then always win.
ExemplarLearnResult learn_exemplar_distance(const std::vector<LearnSet>& sets,
                                            const ExemplarLearnOptions& options,
                                            Monitor& monitor = silent_monitor());

// Points whose squared Euclidean distance is the learned one: each column times the root of its
// weight. Give them to fit_exemplar with distance squared-euclidean and the model's penalty.
Matrix<float> apply_weights(const LearnedDistance& model, FloatView points);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// JSOM, the joint scene object model as [Xie15] uses it: topics of counts, with one Dirichlet prior
// over topics for each cluster of rows [Zhu10]. Clusters and topics are learned together; the words
// are given. Variational; the steps are in jsom_steps.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/job/restart_range.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct JsomOptions {
  int num_clusters = 8;         // J
  int num_topics = 100;         // K; [Xie15] has 100
  double word_prior = 0.05;     // eta: Dirichlet prior of a topic's words
  int num_restarts = 1;         // independent restarts; the highest bound is kept
  int max_iterations = 100;     // rounds over all rows
  double rel_tolerance = 1e-5;  // stop when the bound rises by less than this fraction
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
  // Not an option: for work in shards (base/job/restart_range.h).
  RestartRange restart_range = {};
  static constexpr RestartChoice kRestartChoice = RestartChoice::HighestObjective;
};

template <class Visitor>
void visit_fields(JsomOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, at_least(1).alias("k"), "number of clusters");
  v("num_topics", o.num_topics, at_least(1).alias("topics"),
    "number of topics, shared by all clusters");
  v("word_prior", o.word_prior, above(0).alias("eta"), "Dirichlet prior of the words of a topic");
  v("num_restarts", o.num_restarts, at_least(1).alias("restarts"),
    "independent restarts; the best is kept");
  v("max_iterations", o.max_iterations, at_least(1), "maximum iterations per restart");
  v("rel_tolerance", o.rel_tolerance, at_least(0),
    "stop when the bound rises by less than this fraction; 0 runs max_iterations");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

struct JsomInput {
  FloatView counts;  // n x V, >= 0
};

struct JsomModel {
  static constexpr std::string_view kKind = "jsom";
  static constexpr int kFormatVersion = 1;
  std::vector<double> weights;  // J, sum 1
  Matrix<double> priors;        // J x K: Dirichlet parameters of the topics in a cluster, above 0
  Matrix<double> words;         // K x V: Dirichlet parameters of the words in a topic, above 0
};

template <MaybeConst<JsomModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("weights", m.weights);
  v("priors", m.priors);
  v("words", m.words);
}

struct JsomResult {
  std::vector<int> labels;       // n, in [0, J): the most probable; equal to predict(model, counts)
  Matrix<double> probabilities;  // n x J
  JsomModel model;
  RunSummary summary;  // objective: the lower bound of the log evidence, maximised
};

// Throws InvalidArgument for options out of range and empty counts; DataError for counts that are
// negative or not finite. A stopped fit returns the best complete state.
JsomResult fit_jsom(const JsomInput& input, const JsomOptions& options,
                    Monitor& monitor = silent_monitor());

// n x J: probabilities of the clusters of each row, from the model alone; rows sum to 1.
Matrix<double> cluster_probabilities(const JsomModel& model, FloatView counts, int num_threads = 0);
// The most probable cluster of each row; ties go to the lowest index.
std::vector<int> predict(const JsomModel& model, FloatView counts, int num_threads = 0);

}  // namespace milieu

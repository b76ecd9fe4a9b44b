// SPDX-License-Identifier: Apache-2.0
// Topics of counts: latent Dirichlet allocation [Blei03], by variational Bayes or collapsed Gibbs
// sampling [Griffiths04]. The name lda is left to Fisher's projection. A row's label is its
// strongest topic, as [Xie15] clusters with it. The loop is in topics.cc.
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

enum class TopicsInference { Variational, Gibbs };

struct TopicsOptions {
  int num_clusters = 8;  // K, topics
  TopicsInference inference = TopicsInference::Variational;
  double topic_prior =
      0.05;  // alpha: Dirichlet prior of a row's topics; smaller gives fewer topics per row
  double word_prior = 0.05;     // eta: Dirichlet prior of a topic's words
  int num_restarts = 3;         // independent restarts; the highest objective is kept
  int max_iterations = 200;     // rounds over all rows
  double rel_tolerance = 1e-5;  // variational: stop when the bound rises by less than this fraction
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
  // Not an option: for work in shards (base/job/restart_range.h).
  RestartRange restart_range = {};
  static constexpr RestartChoice kRestartChoice = RestartChoice::HighestObjective;
};

template <class Visitor>
void visit_fields(TopicsOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters,
    at_least(1).alias("k").alias("topics").in_python("n_components"), "number of topics");
  v("inference", o.inference,
    one_of<TopicsInference>(
        {{"variational", TopicsInference::Variational}, {"gibbs", TopicsInference::Gibbs}}),
    "variational Bayes, or collapsed Gibbs sampling (whole counts only)");
  v("topic_prior", o.topic_prior, above(0).alias("alpha"),
    "Dirichlet prior of the topics of a row; smaller values give fewer topics per row");
  v("word_prior", o.word_prior, above(0).alias("eta"), "Dirichlet prior of the words of a topic");
  v("num_restarts", o.num_restarts, at_least(1).alias("restarts"),
    "independent restarts; the best is kept");
  v("max_iterations", o.max_iterations, at_least(1), "maximum iterations per restart");
  v("rel_tolerance", o.rel_tolerance, at_least(0),
    "variational: stop when the bound rises by less than this fraction; 0 runs max_iterations");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

struct TopicsInput {
  static constexpr int64_t kBlockRows = 32;  // what rows that ranks share are cut for

  FloatView counts;  // n x V, >= 0: how often each word occurs in each row
  // Where several ranks share the rows: counts are this rank's own, and
  // so are labels and proportions. Null: all are here.
  const Rows* rows = nullptr;
};

struct TopicsModel {
  static constexpr std::string_view kKind = "topics";
  static constexpr int kFormatVersion = 1;
  double topic_prior = 0.05;
  Matrix<double> words;  // K x V: parameters of each topic's Dirichlet over words (lambda)
};

template <MaybeConst<TopicsModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("topic_prior", m.topic_prior);
  v("words", m.words);
}

struct TopicsResult {
  std::vector<int> labels;     // n: strongest topic; equal to predict(model, counts)
  Matrix<double> proportions;  // n x K: mean topic shares of each row
  TopicsModel model;
  // objective: variational, the lower bound of the log evidence; Gibbs,
  // log p(words, topics) of the last sample, whose trace wanders.
  RunSummary summary;
};

// Throws InvalidArgument for options out of range and empty counts; DataError for counts that are
// negative, not finite or, with Gibbs, not whole. A stopped fit returns the best complete state.
TopicsResult fit_topics(const TopicsInput& input, const TopicsOptions& options,
                        Monitor& monitor = silent_monitor());

// n x K: mean topic shares of each row given the topics; rows sum to 1.
Matrix<double> infer_topics(const TopicsModel& model, FloatView counts, int num_threads = 0);
// The strongest topic of each row; ties go to the lowest index.
std::vector<int> predict(const TopicsModel& model, FloatView counts, int num_threads = 0);

}  // namespace milieu

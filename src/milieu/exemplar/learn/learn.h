// SPDX-License-Identifier: Apache-2.0
// Learning to cluster [Komodakis11, sections 3 and 4]: non-negative weights of candidate distances
// such that exemplar clustering under their sum gives the example partitions. Candidates are
// squared differences of coordinates, distances of groups of columns (image features), or matrices
// computed elsewhere. Max-margin training by dual decomposition: crf/train.h with the closed forms
// of learn_steps.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/crf/train.h"
#include "milieu/exemplar/learn/learned_distance.h"
#include "milieu/exemplar/learn/pair_features.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

enum class LearnPrecision { Single, Double };

struct ExemplarLearnOptions {
  double alpha = 1;            // margin per excess or missing exemplar in a true cluster
  double beta = 1;             // margin per sample outside its true cluster
  double penalty = 0;          // d_qq; 0: by rule, the larger of 2 alpha and beta times half the
                               // mean cluster size; 2 alpha where it is learned
  bool learn_penalty = false;  // also train d_qq, starting at `penalty`
  bool calibrate = true;   // afterwards, choose the penalty that clusters the training sets best; a
                           // given fixed penalty is kept
  bool diagonals = false;  // the diagonals of matrices are costs of exemplars: d_qq is the penalty
                           // and sum_t w_t f_qq,t, with the weights of the matrices
  bool signed_features = false;  // entries of matrices may be negative
  bool normalize = true;         // divide each feature by its mean size over all pairs first
  double screening = 4;  // drop candidates that are not larger between clusters than within by this
                         // many standard errors; 0: keep all
  bool metric = true;    // also offer full metrics as candidates (learn_metric_internal.h)
  int validations = 2;   // two-fold cross-validations that choose how clusters are formed; 0: none
  LearnPrecision precision = LearnPrecision::Single;  // of distances and duals
  double max_memory_gb = 4;  // for duals and distances of all sets; distances that do not fit are
                             // recomputed in every round, duals that do not are refused
  CrfTrainOptions train = {.max_iterations = 0};
};

template <class Visitor>
void visit_fields(ExemplarLearnOptions& o, Visitor&& v) {
  v("alpha", o.alpha, at_least(0), "margin per excess or missing exemplar in a true cluster");
  v("beta", o.beta, at_least(0), "margin per sample outside its true cluster");
  v("penalty", o.penalty, at_least(0),
    "cost of each exemplar; 0 derives it from the cluster sizes");
  v("learn_penalty", o.learn_penalty, anything(), "also train the cost of an exemplar");
  v("calibrate", o.calibrate, anything(),
    "afterwards choose the penalty that clusters the training sets best; a given --penalty is "
    "kept");
  v("diagonals", o.diagonals, anything(),
    "with matrices: their diagonals are costs of exemplars, weighted like the matrices");
  v("signed_features", o.signed_features, anything(), "matrices may have negative entries");
  v("normalize", o.normalize, anything(), "divide each feature by its mean over all pairs first");
  v("screening", o.screening, at_least(0),
    "drop candidates that are not larger between clusters than within by this many standard errors "
    "(from 100 samples on); 0 keeps all");
  v("metric", o.metric, anything(),
    "also offer full metrics as candidates: the inverse covariance within clusters, shrunk (from "
    "50 "
    "samples on); and look for the axes that separate these clusters from each other");
  v("validations", o.validations, at_least(0),
    "two-fold cross-validations on the training sets, which choose between exemplars and the "
    "normalized cut and compare with the unlearned average; 0 takes exemplars");
  visit_fields(o.train, v);
  v("precision", o.precision,
    one_of<LearnPrecision>({{"single", LearnPrecision::Single}, {"double", LearnPrecision::Double}})
        .advanced(),
    "precision of distances and duals; double is slow, for checks");
  v("max_memory_gb", o.max_memory_gb, above(0).advanced(),
    "memory for distances and duals in gigabytes; the rest of the distances is recomputed each "
    "round");
}

// The paper's values where ours differ: plain subgradient steps, no screening, no calibration, no
// full metrics, exemplars always.
void apply_paper_preset(ExemplarLearnOptions& options);

// One example: samples and their true clusters. Points, or matrices of candidate distances.
struct LearnSet {
  FloatView points;                      // n x d; all sets have the same d
  std::vector<int> labels;               // n, 0 .. clusters - 1, none empty
  std::vector<FloatView> matrices = {};  // n x n each; all sets have as many
  FloatView exemplar_features = {};      // n x G: what the cost of an exemplar may depend on (how
                                         // sharp, central or trusted it is); all sets have as many
};

struct LearnInput {
  std::vector<LearnSet> sets;
  std::vector<CandidateDistance> candidates =
      {};                               // of points; empty: squared difference per coordinate
  std::vector<std::string> names = {};  // of coordinates or matrices; empty: "column 3", "matrix 0"
  // Columns of the points that are features of exemplars instead of coordinates: d_qq = penalty +
  // sum_s v_s (g_qs - mean of g_s) [Komodakis11, Eq. 10 with p = q], with learned v of any sign.
  // Only without candidates. LearnSet::exemplar_features come after them.
  std::vector<int64_t> exemplar_columns = {};
  std::vector<std::string> exemplar_names =
      {};  // of exemplar_features; empty: "exemplar feature 0"
  // In place of the regulariser and of the constraint where they are set: functions of the weights
  // of the candidates, each in units of its mean size where options.normalize is set. Called from
  // several threads at the same time.
  CrfPrice price = {};
  CrfProjection project = {};
};

struct ExemplarLearnResult {
  LearnedDistance model;         // mean weights of the second half of the rounds
  RunSummary summary;            // objective: the bound of the loss at the last round, its trace
  std::vector<CrfRound> rounds;  // the parts of the objective, as many as the trace has
  std::vector<double> shares;    // F: weight times the candidate's mean over the pairs, of the sum
  double metric_share = 0;       // of the full metrics: the rest of the sum
};

// Throws InvalidArgument where a set teaches nothing (one cluster, or every sample alone), where
// widths differ, where the penalty is at most alpha (clusters of one sample would always be best)
// and where all candidates are constant; DataError for NaN and, unless features are signed, for
// negative distances. The model
// has no samples: add_samples() adds them.
ExemplarLearnResult learn_exemplar_distance(const LearnInput& input,
                                            const ExemplarLearnOptions& options,
                                            Monitor& monitor = silent_monitor());

// Bytes of duals and of distances under the current weights, for sets of these sizes.
double learn_memory_bytes(const std::vector<LearnSet>& sets, LearnPrecision precision);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Exemplar clustering [Komodakis11, Eq. 1]: choose the samples that represent the rest, and their
// number with them, so that
//   sum over samples of the distance to their exemplar + a penalty for each exemplar
// is minimal. The result bounds how far it can be from the minimum.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/inputs.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/exemplar/search/service_lists.h"
#include "milieu/linalg/matrix.h"
#include "milieu/linalg/pair_distance.h"

namespace MILIEU_API milieu {

// How the initial exemplars are found. Both are improved by search and rounding afterwards.
enum class ExemplarInit { Greedy, Stabilities };

// How Eq. 1 is minimised: by search, bounds and rounding, or, for comparison, by the messages of
// affinity propagation [Frey07]. Both bound how far from the minimum they end.
enum class ExemplarSolver { Search, AffinityPropagation };

// How a learned distance (learn/learned_distance.h) forms clusters; Auto: as its training chose.
enum class ExemplarGrouping { Auto, Exemplars, Cut };

// Whether a set holds the clusters that a distance was learned from. Auto: by its samples.
enum class KnownSet { Auto, Yes, No };

struct ExemplarOptions {
  Distance distance = Distance::Euclidean;  // between points; precomputed: points are the costs
  std::string penalty = "stable";  // d_qq of every sample: a number, "median" of all distances, or
                                   // "stable": the one from there upwards whose clusters change
                                   // least when samples are left out; larger, fewer exemplars
  int num_clusters = 0;            // target number of exemplars; 0: the penalty decides
  int num_neighbors = 0;           // candidates kept per sample; 0: all that can pay off, if they
                                   // fit into max_memory_gb, else the nearest 40
  ExemplarGrouping grouping = ExemplarGrouping::Auto;
  KnownSet known_clusters = KnownSet::Auto;
  ExemplarSolver solver = ExemplarSolver::Search;
  ExemplarInit init = ExemplarInit::Greedy;
  double rel_gap = 1e-4;      // stop when energy and bound are this close, or stop approaching;
                              // 0: run max_iterations unless they meet
  int max_iterations = 1000;  // dual steps in total
  double max_memory_gb = 2;   // for distances; more is refused, or lists are shortened
  uint64_t seed = 1;          // for perturbed restarts, and the pairs behind "median" on large sets
  int num_threads = 0;
};

template <class Visitor>
void visit_fields(ExemplarOptions& o, Visitor&& v) {
  v("distance", o.distance, distance_choices(),
    "distance between samples; precomputed means INPUT is a square matrix of costs");
  v("penalty", o.penalty, anything(),
    "cost of each exemplar: a number, median (of all distances), or stable (whose clusters change "
    "least when samples are left out); larger gives fewer exemplars");
  v("num_clusters", o.num_clusters, at_least(0).alias("k"),
    "target number of exemplars; 0 lets the penalty decide");
  v("num_neighbors", o.num_neighbors, at_least(0).alias("neighbors"),
    "candidates kept per sample; 0 keeps all that can pay off, if they fit into memory");
  v("grouping", o.grouping,
    one_of<ExemplarGrouping>({{"auto", ExemplarGrouping::Auto},
                              {"exemplars", ExemplarGrouping::Exemplars},
                              {"cut", ExemplarGrouping::Cut}}),
    "with a learned distance, how clusters are formed: by exemplars, or by the normalized cut of "
    "the distances; auto takes what did better in training");
  v("known_clusters", o.known_clusters,
    one_of<KnownSet>({{"auto", KnownSet::Auto}, {"yes", KnownSet::Yes}, {"no", KnownSet::No}}),
    "with a learned distance, whether INPUT holds the clusters of the training sets, which are "
    "then found along the axes that separate them; auto compares its samples with their centers");
  v("solver", o.solver,
    one_of<ExemplarSolver>({{"search", ExemplarSolver::Search},
                            {"affinity-propagation", ExemplarSolver::AffinityPropagation}})
        .advanced(),
    "search, or affinity propagation for comparison");
  v("init", o.init,
    one_of<ExemplarInit>(
        {{"greedy", ExemplarInit::Greedy}, {"stabilities", ExemplarInit::Stabilities}})
        .alias("start"),
    "how the initial exemplars are found");
  v("rel_gap", o.rel_gap, at_least(0),
    "stop when energy and lower bound are this close, or stop approaching; 0: only when they meet");
  v("max_iterations", o.max_iterations, at_least(1), "maximum number of dual steps");
  v("max_memory_gb", o.max_memory_gb, above(0).advanced(), "memory for distances in gigabytes");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

// Exactly one of points, costs and lists is given.
struct ExemplarInput {
  FloatView points;                     // n x d samples
  FloatView costs;                      // n x n, [p, q]: cost of serving p by exemplar q; need be
                                        // neither symmetric nor metric; the diagonal is ignored
  const ServiceLists* lists = nullptr;  // with penalties and caps inside; options.penalty unused
  std::span<const double> penalties;    // one per sample; empty: options.penalty for all
  FloatView exemplar_features;          // n x G, for learned distances only: what exemplars cost
};

template <class Visitor>
void visit_inputs(ExemplarInput& in, Visitor&& v) {
  v("penalties", in.penalties, InputRule{InputKind::Weights, "n"},
    "penalty of every sample, in place of --penalty or of what --model has learned");
  v("lists", in.lists, InputRule{InputKind::Costs, "pairs x 3"},
    "allowed pairs with their costs, in place of a distance: sample, sample that may represent it, "
    "cost");
  v("exemplar_features", in.exemplar_features, InputRule{InputKind::Rows, "n x columns"},
    "with a learned distance: what its exemplars' costs were learned from");
}

struct ExemplarModel {
  static constexpr std::string_view kKind = "exemplar";
  static constexpr int kFormatVersion = 1;
  std::vector<int64_t> rows;  // the exemplars' rows in the training data, ascending
  Matrix<float> exemplars;    // their features, k x d; empty when only costs were given
  std::string distance;       // by name
};

template <MaybeConst<ExemplarModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("rows", m.rows);
  v("exemplars", m.exemplars);
  v("distance", m.distance);
}

// One solved penalty on the way to the target number of exemplars.
struct PenaltyTrial {
  double penalty = 0;
  int num_exemplars = 0;
  double energy = 0;  // with that penalty
  double lower_bound = 0;
};

struct ExemplarResult {
  std::vector<int> labels;  // n, place of the sample's exemplar in model.rows
  ExemplarModel model;
  RunSummary summary;      // objective = energy; extra: energy, lower_bound, gap, exemplars, ...
  double energy = 0;       // sum of distances + penalties; with num_clusters > 0 and one penalty
                           // for all: the sum of distances alone
  double lower_bound = 0;  // no choice of exemplars has less energy
  double gap = 0;          // (energy - lower_bound) / |lower_bound|
  int64_t num_fixed_open = 0;       // samples that are exemplars in every better solution
  int64_t num_fixed_closed = 0;     // samples that are exemplars in no better solution
  std::vector<PenaltyTrial> curve;  // ascending penalties; empty unless num_clusters > 0
};

// The number in `text` or, for "median" and "stable" (which needs more than costs), the median of
// the finite costs; if that is not positive (mostly duplicates: a penalty of 0 would make every
// sample an exemplar) their mean, and if that is not either, 1. Throws InvalidArgument for other
// texts and when no cost is finite.
double penalty_from_text(const std::string& text, std::vector<float> costs);

// Lists of n samples from the pairs that are allowed: opening sample q costs penalties[q] or, when
// none are given, what `penalty` says about the costs of the pairs of different samples.
ServiceLists lists_with_penalty(int64_t n, std::vector<ServiceEntry> entries,
                                std::span<const double> penalties, const std::string& penalty);

ExemplarResult fit_exemplar(const ExemplarInput& input, const ExemplarOptions& options,
                            Monitor& monitor = silent_monitor());

// Nearest exemplar of each row; ties go to the lowest label. InvalidArgument when the model was
// fitted on costs.
std::vector<int> predict(const ExemplarModel& model, FloatView points, int num_threads = 0);

}  // namespace milieu

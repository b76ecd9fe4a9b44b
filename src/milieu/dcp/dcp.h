// SPDX-License-Identifier: Apache-2.0
// Discriminative context partitioning [Lampert08]: splits a set into parts so that each part by
// itself is separated from a context set by a large margin. The public interface; the loop is in
// dcp.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/inputs.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/ranks/team.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

enum class DcpLoss { Hinge, SquaredHinge, Huber, Logistic };
enum class DcpKernel {
  Linear,
  Polynomial,
  Intersection,
  ChiSquared,
  ExpChiSquared,
  Rbf,
  Precomputed
};
enum class DcpOptimizer { Lbfgs, SoftMax, Alternation, Annealing, Entropy, Subgradient };
enum class DcpInit { Mixed, KMeans, Axes, Planes, Seeds, Random };
enum class DcpCostPer { Set, Sample };

// How the parts are searched for. The defaults are the best we know; the rest is for research.
struct DcpSearchOptions {
  DcpOptimizer optimizer = DcpOptimizer::Lbfgs;
  bool cost_path = true;  // approach the cost from below, where the problem is nearly convex
  int num_crossings = 0;  // pairs of restarts whose planes are combined, per round; 0: none
};

template <class Visitor>
void visit_fields(DcpSearchOptions& o, Visitor&& v) {
  v("optimizer", o.optimizer,
    one_of<DcpOptimizer>({{"lbfgs", DcpOptimizer::Lbfgs},
                          {"soft-max", DcpOptimizer::SoftMax},
                          {"alternation", DcpOptimizer::Alternation},
                          {"annealing", DcpOptimizer::Annealing},
                          {"entropy", DcpOptimizer::Entropy},
                          {"subgradient", DcpOptimizer::Subgradient}})
        .advanced(),
    "how the parts are searched for");
  v("cost_path", o.cost_path, anything().advanced(),
    "approach --cost in steps of ten from where the problem is nearly convex");
  v("num_crossings", o.num_crossings, at_least(0).alias("crossings").advanced(),
    "after the restarts, combine the planes of this many pairs of them; 0 combines none");
}

struct DcpOptions {
  int num_clusters = 2;  // K, parts
  DcpLoss loss = DcpLoss::SquaredHinge;
  double cost = 0.1;  // of margin violations; a large one gives the hard margin
  // Set: C = cost / n, so that it means the same for any number of samples. Sample: C = cost.
  DcpCostPer cost_per = DcpCostPer::Set;
  double huber_width = 0.5;  // h: half width of the rounded corner of the Huber loss
  bool center = true;        // move the origin to the (weighted) mean of samples and context
  bool scale = false;        // divide by the mean length, so that cost does not depend on units
  double bias = 0;           // B: the constant added as a feature; 0: planes through the origin
  // Floors of the whitening that are tried; "none": the features as they are. Component j of set
  // and context together is divided by sqrt(v_j + floor * mean v): see docs/algorithms/dcp.md.
  std::string whiten = "1,0.3,0.1,0.03";
  DcpKernel kernel = DcpKernel::Linear;
  // Of polynomial, exp-chi-squared and rbf; 0: 1/d, or 1/mean distance for the last two.
  double gamma = 0;
  double coef0 = 1;  // of polynomial
  int degree = 2;    // of polynomial
  DcpInit init = DcpInit::Mixed;
  DcpSearchOptions search;
  int num_restarts = 8;         // for each floor of the whitening
  int max_iterations = 150;     // of each stage of one restart
  double rel_tolerance = 1e-5;  // a stage ends when the objective falls by less than this fraction
  int min_part = 1;             // a restart with a smaller part is kept only when all have one
  double min_share = 0.1;       // the same, as a fraction of an even share of the samples
  std::string sizes;            // limits of the part sizes: "4,6", "10-", "20%-80%"; empty: none
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
};

template <class Visitor>
void visit_fields(DcpOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, at_least(1).alias("k"), "how many parts");
  v("loss", o.loss,
    one_of<DcpLoss>({{"hinge", DcpLoss::Hinge},
                     {"squared-hinge", DcpLoss::SquaredHinge},
                     {"huber", DcpLoss::Huber},
                     {"logistic", DcpLoss::Logistic}}),
    "loss of a sample inside the margin");
  v("cost", o.cost, above(0), "cost of margin violations; large values give the hard margin");
  v("cost_per", o.cost_per,
    one_of<DcpCostPer>({{"set", DcpCostPer::Set}, {"sample", DcpCostPer::Sample}}),
    "--cost is divided by the number of samples (set), or is the C of every sample (sample)");
  v("whiten", o.whiten, anything(),
    "floors of the whitening that are tried, the best separated split is kept; none: no whitening");
  v("huber_width", o.huber_width, above(0).advanced(),
    "half width of the rounded corner of the Huber loss");
  v("center", o.center, anything(), "move the origin to the mean of samples and context");
  v("scale", o.scale, anything(),
    "divide by the mean length, so that --cost means the same in any unit");
  v("bias", o.bias, at_least(0).advanced(),
    "constant feature that gives the planes an offset; 0 keeps them at the origin");
  v("kernel", o.kernel,
    one_of<DcpKernel>({{"linear", DcpKernel::Linear},
                       {"polynomial", DcpKernel::Polynomial},
                       {"intersection", DcpKernel::Intersection},
                       {"chi-squared", DcpKernel::ChiSquared},
                       {"exp-chi-squared", DcpKernel::ExpChiSquared},
                       {"rbf", DcpKernel::Rbf},
                       {"precomputed", DcpKernel::Precomputed}}),
    "similarity of two samples");
  v("gamma", o.gamma, at_least(0),
    "factor in polynomial, exp-chi-squared and rbf; 0 is 1/d, or 1/mean distance for the last two");
  v("coef0", o.coef0, at_least(0).advanced(), "constant in the polynomial kernel");
  v("degree", o.degree, between(1, 10).advanced(), "degree of the polynomial kernel");
  v("init", o.init,
    one_of<DcpInit>({{"mixed", DcpInit::Mixed},
                     {"kmeans", DcpInit::KMeans},
                     {"axes", DcpInit::Axes},
                     {"planes", DcpInit::Planes},
                     {"seeds", DcpInit::Seeds},
                     {"random", DcpInit::Random}})
        .alias("starts"),
    "how the restarts are initialised");
  v("num_restarts", o.num_restarts, at_least(1).alias("restarts"),
    "independent restarts for each floor of the whitening");
  v("min_part", o.min_part, at_least(0),
    "keep a restart with a part smaller than this only when all have one");
  v("min_share", o.min_share, between(0, 1),
    "the same limit as a fraction of an even share of the samples");
  v("sizes", o.sizes, anything(),
    "limits of the part sizes: 4,6 or 10- or 20%-80%; one for all parts or one per part");
  visit_fields(o.search, v);
  v("max_iterations", o.max_iterations, at_least(1).advanced(),
    "maximum iterations per stage of a restart");
  v("rel_tolerance", o.rel_tolerance, at_least(0).advanced(),
    "end a stage when the objective falls by less than this fraction");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

// The defaults before whitening: a large cost in the features as they are, 20 restarts, the lowest
// J. Close to the paper, for parts that a wide margin separates from the context.
DcpOptions margin_dcp_options();

// Two samples, by their rows.
using DcpLink = std::pair<int64_t, int64_t>;

struct DcpInput {
  FloatView points;        // n x d samples to split
  FloatView context = {};  // m x d samples that every part must be separated from; m >= 1
  // With the precomputed kernel d is n + m: similarities with all samples, then all of the context.
  std::span<const double> weights = {};          // n sample weights >= 0, or empty: all 1
  std::span<const double> context_weights = {};  // m, likewise
  std::span<const int> initial_labels = {};      // n labels in [0, K): a single start; or empty
  // Side constraints [Lampert08, section 3.1]; all empty: none.
  std::span<const int> memberships = {};       // n: the part that a sample must be in, or -1
  std::span<const DcpLink> must_links = {};    // pairs that share a part
  std::span<const DcpLink> cannot_links = {};  // pairs that do not
  const Team* team = nullptr;  // ranks that divide the passes over rows; null: there is one
};

template <class Visitor>
void visit_inputs(DcpInput& in, Visitor&& v) {
  v("context", in.context, InputRule{InputKind::Samples, "m x d"},
    "samples that the parts are separated from");
  v("weights", in.weights, InputRule{InputKind::Weights, "n"}, "weight of every sample");
  v("context_weights", in.context_weights, InputRule{InputKind::Numbers, "m"},
    "weight of every context sample");
  v("initial_labels", in.initial_labels, InputRule{InputKind::Parts, "n"},
    "initial part of every sample; replaces all restarts");
  v("memberships", in.memberships, InputRule{InputKind::Parts, "n"},
    "part that a sample must be in, or -1");
  v("must_link", in.must_links, InputRule{InputKind::Pairs, "pairs x 2"},
    "pairs of samples that must share a part");
  v("cannot_link", in.cannot_links, InputRule{InputKind::Pairs, "pairs x 2"},
    "pairs of samples that must not share a part");
}

// f_k(x) = <coefficients_k, features(x)> + offset_k; x belongs to the part with the largest f_k.
// The features of the linear kernel are x itself, else the kernel of x with every training sample.
struct DcpModel {
  static constexpr std::string_view kKind = "dcp";
  static constexpr int kFormatVersion = 1;
  std::string kernel = "linear";
  double gamma = 0;
  double coef0 = 0;
  int degree = 0;
  Matrix<float> samples;        // N x d training samples and context; empty for linear, precomputed
  Matrix<double> coefficients;  // K x d, or K x N
  std::vector<double> offsets;  // K
};

template <MaybeConst<DcpModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("coef0", m.coef0);
  v("degree", m.degree);
  v("gamma", m.gamma);
  v("kernel", m.kernel);
  v("samples", m.samples);
  v("coefficients", m.coefficients);
  v("offsets", m.offsets);
}

struct DcpResult {
  std::vector<int> labels;  // n, in [0, K); without constraints equal to predict(model, points)
  DcpModel model;
  RunSummary summary;       // objective: J
  Matrix<float> decisions;  // n x K values f_k of each sample
  // n: f_k of the label minus the largest other one, the label's confidence; below 0 where a
  // constraint put the sample elsewhere.
  std::vector<float> margins;
  double empty_objective = 0;  // Je: cost of a part without samples
  double joint_objective = 0;  // J1: cost of all samples as one part
  double gain = 0;             // 1 - J / (J1 + (K - 1) Je); <= 0: one part is cheaper than K
  // How clearly the parts stand apart, and the context does not, along the direction between them:
  // nats per sample by which two normals describe it better than one.
  double separation = 0;
  double confidence = 0;  // share of samples expected to be right at this separation, 0.5 to 1
  double floor = -1;      // of the whitening that was kept; -1: none
  double gap = 0;         // duality gap of the K classifiers together, absolute
  double agreement = 0;   // mean adjusted Rand index of the other restarts with the best one
  std::vector<double> restart_objectives;
};

DcpResult fit_dcp(const DcpInput& input, const DcpOptions& options,
                  Monitor& monitor = silent_monitor());

// The part of each row; ties go to the lowest index.
std::vector<int> predict(const DcpModel& model, FloatView points, int num_threads = 0);

// f_k of each row: n x K.
Matrix<double> decision_values(const DcpModel& model, FloatView points, int num_threads = 0);

// What a given split costs: the K classifiers are trained for it, the labels stay unchanged
// [Lampert08, Eq. 5]. Labels lie in [0, K).
struct DcpSplitCost {
  double objective = 0;        // J of the split
  double joint_objective = 0;  // J1
  double empty_objective = 0;  // Je
  double gap = 0;
};
DcpSplitCost split_cost(const DcpInput& input, std::span<const int> labels,
                        const DcpOptions& options);

}  // namespace milieu

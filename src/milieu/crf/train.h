// SPDX-License-Identifier: Apache-2.0
// Max-margin training of latent high-order CRFs by dual decomposition [Komodakis11, section 5]:
// weights w such that, for every training example, some completion of the observed labels has an
// energy that is lower than that of every other labelling by a margin. The trainer knows only the
// interface CrfExample: `graph_example.h` implements it for any hypergraph whose slaves can be
// minimised, exemplar/learn/learn.h in closed form.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"

namespace MILIEU_API milieu {

enum class CrfRegularizer { L1, L2, Elastic, GroupLasso };
enum class CrfSchedule { Constant, InverseRoot, Inverse };
enum class CrfConstraint { NonNegative, Box, Simplex, Free };

struct CrfTrainOptions {
  // Rounds; each visits every example once, or one if stochastic. 0: 200, or up to 20,000 for small
  // examples, whose rounds cost little.
  int max_iterations = 200;
  int inner_rounds = 1;     // T: subgradient rounds between two latent steps
  bool stochastic = false;  // a round visits one random example
  double step = 0.2;        // of the weights
  bool adagrad = true;      // divide each weight's step by the root of its summed squares
  CrfSchedule step_schedule = CrfSchedule::InverseRoot;  // of the weights, without adagrad
  double dual_step = 1;                                  // of the duals
  CrfSchedule dual_schedule = CrfSchedule::InverseRoot;
  double regularization = 1e-3;  // tau; larger: fewer and smaller weights
  CrfRegularizer regularizer = CrfRegularizer::L1;
  // Shrinks weights after each step instead of adding the l1 slope to it, so that they become
  // exactly 0 under any constraint. Group lasso is always taken so.
  bool proximal = false;
  // Stops when the mean objective of the second half of the rounds is below that of the quarter
  // before it by less than this fraction of the first objective; 0: never, all rounds are made.
  double rel_tolerance = 0;
  double l1_share = 0.5;  // of the elastic regulariser; the rest is l2
  CrfConstraint constraint = CrfConstraint::NonNegative;
  double box_low = 0, box_high = 1;  // of the box
  uint64_t seed = 1;                 // of the stochastic order
  int num_threads = 0;               // examples are processed in parallel; no effect on results
};

template <class Visitor>
void visit_fields(CrfTrainOptions& o, Visitor&& v) {
  const auto schedules = [] {
    return one_of<CrfSchedule>({{"constant", CrfSchedule::Constant},
                                {"inverse-root", CrfSchedule::InverseRoot},
                                {"inverse", CrfSchedule::Inverse}})
        .advanced();
  };
  v("max_iterations", o.max_iterations, at_least(0).alias("rounds"),
    "maximum iterations (rounds of training); 0 means 200, more for small examples");
  v("inner_rounds", o.inner_rounds, at_least(1),
    "rounds between two updates of the latent variables (the exemplars)");
  v("stochastic", o.stochastic, anything(), "visit one random training set per round");
  v("regularization", o.regularization, at_least(0),
    "strength of the regulariser; larger gives fewer weights");
  v("regularizer", o.regularizer,
    one_of<CrfRegularizer>({{"l1", CrfRegularizer::L1},
                            {"l2", CrfRegularizer::L2},
                            {"elastic", CrfRegularizer::Elastic},
                            {"group-lasso", CrfRegularizer::GroupLasso}}),
    "norm of the weights to penalise; group-lasso drops whole features");
  v("proximal", o.proximal, anything(),
    "shrink weights after each step (proximal gradient), so that l1 gives exact zeros");
  v("rel_tolerance", o.rel_tolerance, at_least(0).alias("tolerance"),
    "stop when the mean objective falls by less than this fraction of the first one, from the "
    "second quarter of the rounds to their second half; 0 makes all rounds");
  v("l1_share", o.l1_share, between(0, 1).advanced(), "share of l1 in the elastic regulariser");
  v("constraint", o.constraint,
    one_of<CrfConstraint>({{"non-negative", CrfConstraint::NonNegative},
                           {"box", CrfConstraint::Box},
                           {"simplex", CrfConstraint::Simplex},
                           {"free", CrfConstraint::Free}})
        .advanced(),
    "set that the weights are confined to");
  v("box_low", o.box_low, anything().advanced(), "smallest weight in the box");
  v("box_high", o.box_high, anything().advanced(), "largest weight in the box");
  v("step", o.step, above(0).advanced(), "step size of the weights");
  v("adagrad", o.adagrad, anything().advanced(),
    "shrink the steps of a weight with its gradients instead of by a schedule");
  v("step_schedule", o.step_schedule, schedules(),
    "how the steps of the weights shrink without adagrad");
  v("dual_step", o.dual_step, above(0).advanced(), "step size of the duals");
  v("dual_schedule", o.dual_schedule, schedules(), "how the steps of the duals shrink");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

// The two sides of an example's loss: E(x^k) - sum of the slaves' minima. It is never below the
// true loss E(x^k) - min Ebar, and never negative where x^k is a labelling of all slaves.
struct CrfParts {
  double energy = 0;  // of the completed labelling x^k, whose margin is 0
  double bound = 0;   // sum of the slaves' minima
};

class CrfExample {
 public:
  virtual ~CrfExample() = default;
  // What the sum of all losses is divided by, summed over examples: usually variables or samples.
  virtual int64_t size() const = 0;
  // The latent step: chooses x^k for the weights w. Its energy at w must not rise.
  virtual void complete(std::span<const double> w) = 0;
  // Minimises all slaves at w and the current duals, adds this example's subgradient in w
  // (d energy / dw - d bound / dw) to `gradient`, moves the duals by `dual_step`.
  virtual CrfParts descend(std::span<const double> w, double dual_step,
                           std::span<double> gradient) = 0;
};

// Moves w to the nearest point of its set, in place.
using CrfProjection = std::function<void(std::span<double> w)>;

// J(w); fills `slope` with a subgradient.
using CrfPrice = std::function<double(std::span<const double> w, std::span<double> slope)>;

struct CrfTrainInput {
  std::vector<CrfExample*> examples;
  std::vector<double> start;       // w0; its length is the number of weights
  std::vector<double> step_scale;  // one per weight: factors of its steps; empty: 1
  std::vector<char> is_priced;     // one per weight: 0 excludes it from the regulariser; empty: all
  CrfProjection project;           // in place of options.constraint when set
  std::vector<int> groups = {};    // of group lasso, one per weight; empty: every weight by itself
  CrfPrice price = {};             // in place of options.regularizer when set: subgradient steps
};

// The objective of one round, before its step.
struct CrfRound {
  double energy = 0;     // mean over sizes
  double bound = 0;      // likewise
  double price = 0;      // tau J(w)
  double objective = 0;  // energy - bound + price
};

struct CrfTrainResult {
  std::vector<double> weights;       // mean of the second half of the rounds made
  std::vector<double> last_weights;  // after the last round
  std::vector<CrfRound> rounds;
  Termination termination = Termination::IterationLimit;  // Converged: by rel_tolerance
};

// Throws InvalidArgument when there are no examples or no weights, when lengths differ, and when
// box_low is above box_high. A value that is not finite ends the training (NumericalIssue).
CrfTrainResult train_latent_crf(const CrfTrainInput& input, const CrfTrainOptions& options,
                                Monitor& monitor = silent_monitor());

// The projections that options name; the simplex is that of weights >= 0 with sum 1.
void project_non_negative(std::span<double> w);
void project_box(std::span<double> w, double low, double high);
void project_simplex(std::span<double> w);

// J(w) of the weights that are priced. Group lasso: the sum over groups of |w_g| times the root of
// the group's size; `groups` may be empty.
double regularizer_value(std::span<const double> w, std::span<const char> is_priced,
                         std::span<const int> groups, const CrfTrainOptions& options);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Where a fit of Gaussian mixtures stands: what a checkpoint holds. Labels and statistics are not
// in it: one pass with the model makes them again, bit for bit.
#pragma once

#include <cstdint>
#include <vector>

#include "milieu/base/ranks/checkpoint.h"
#include "milieu/classic/gmm/gmm_steps.h"

namespace milieu::internal {

struct GmmRun {
  GmmModel model;
  std::vector<int> labels;
  double objective = 0;
  std::vector<double> trace;
  Termination termination = Termination::IterationLimit;
};

// A run without its labels.
struct GmmRunState {
  explicit GmmRunState(const GmmModel& shape) : model(shape) {}
  void set(const GmmRun& run) {
    model = run.model;
    objective = run.objective;
    trace = run.trace;
    termination = static_cast<int64_t>(run.termination);
  }
  GmmRun get() const {
    return {model, {}, objective, trace, static_cast<Termination>(termination)};
  }

  GmmModel model;
  double objective = 0;
  std::vector<double> trace;
  int64_t termination = 0;

  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(model.weights, model.means, model.covariances, objective, trace, termination);
  }
};

struct GmmState {
  explicit GmmState(const GmmModel& shape) : now(shape), best(shape) {}

  int64_t restart = 0;  // the one that runs
  GmmRunState now;
  int64_t best_restart = -1;  // of those before it; -1: none
  GmmRunState best;

  template <class Visitor>
  void visit_arrays(Visitor&& v) {
    v(restart, now, best_restart, best);
  }
};

// The state and where it is kept, while restarts run.
struct GmmKeeping {
  Checkpoint* checkpoint = nullptr;
  GmmState state;
  bool is_resumed = false;  // state.now is where a restart goes on

  void save(int restart, const GmmRun& run) {
    if (!checkpoint) return;
    state.restart = restart;
    state.now.set(run);
    checkpoint->save(pack(state));
  }
};

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
#include "milieu/cac/cac_run_internal.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/assert.h"
#include "milieu/base/random.h"
#include "milieu/cac/cac_start_internal.h"
#include "milieu/cac/cac_steps.h"

namespace milieu::internal {
namespace {

// Fractions of lambda that a continuation steps through.
constexpr double kContinuation[] = {0.05, 0.1, 0.2, 0.4, 0.7, 1};
// A decrease of J due to rounding alone, as a fraction of J.
constexpr double kRoundingShare = 1e-9;

// J may be near 0 or negative: its size counts.
bool has_fallen(double before, double after, double rel_tolerance) {
  return before - after > rel_tolerance * std::abs(before);
}

CacInit kind_of_start(const CacProblem& problem, CacInit wanted, int restart) {
  constexpr int kFirstRandom = 10;  // by then more restarts of the other kinds help little
  CacInit kind = wanted;
  if (wanted == CacInit::Auto) {
    const int turn = restart < kFirstRandom ? restart % 2 : restart % 3;
    kind = turn == 0 ? CacInit::Words : turn == 1 ? CacInit::Phrases : CacInit::Random;
  }
  if (kind == CacInit::Phrases && !can_start_from_phrases(problem)) return CacInit::Words;
  return kind;
}

// One start in progress: the steps with their record.
class Runner {
 public:
  Runner(const CacProblem& problem, const CacState& start, double lambda, const CacOptions& options,
         CacListener& listener)
      : options_(options),
        listener_(listener),
        has_fixed_phrases_(problem.has_fixed_phrases()),
        em_(problem, lambda, start) {}

  // Rounds until J stops falling. False when stopped.
  bool run_stage(double lambda, bool is_last, int num_stages);
  // Phrases for fixed words.
  bool run_phrases();
  CacRun finish();

 private:
  bool update_phrases();
  bool run_e_step();
  bool run_m_step();
  bool stop();
  void record(CacStepKind kind);
  void report(int max_iterations);
  void keep_first_round();

  const CacOptions& options_;
  CacListener& listener_;
  bool has_fixed_phrases_;
  NestedEm em_;
  CacRun run_;
};

bool Runner::stop() {
  run_.termination = termination_from(listener_.monitor.stop_reason());
  return false;
}

void Runner::record(CacStepKind kind) {
  CacStep step;
  step.kind = kind;
  step.iteration = kind == CacStepKind::Start ? 0 : run_.iterations + 1;
  step.lambda = em_.lambda();
  step.words_objective = em_.words_objective();
  step.context_objective = em_.context_objective();
  // Every half step is an exact minimum over its own unknowns.
  MILIEU_ASSERT(kind == CacStepKind::Start || run_.steps.empty() ||
                step.objective() <= run_.steps.back().objective() +
                                        kRoundingShare * (std::abs(run_.steps[0].words_objective) +
                                                          std::abs(step.context_objective)));
  run_.steps.push_back(step);
  if (listener_.observer)
    listener_.observer->on_step(listener_.restart, step, em_.state().words, em_.state().phrases);
}

void Runner::report(int max_iterations) {
  IterationReport report;
  report.restart = listener_.restart;
  report.num_restarts = listener_.num_restarts;
  report.iteration = run_.iterations;
  report.max_iterations = max_iterations;
  report.objective = em_.objective();
  report.change = run_.trace.size() > 1 ? run_.trace.back() - run_.trace[run_.trace.size() - 2] : 0;
  report.seconds = listener_.watch.seconds();
  listener_.monitor.on_iteration(report);
}

bool Runner::update_phrases() {
  if (has_fixed_phrases_) return true;
  if (!em_.update_phrases(listener_.monitor)) return false;
  record(CacStepKind::Phrases);
  return true;
}

// [Yuan08, Algorithm 1, lines 4 to 8]: labels under fixed prototypes.
bool Runner::run_e_step() {
  double before = 0;
  do {
    before = em_.objective();
    if (!update_phrases()) return stop();
    if (!em_.update_words(listener_.monitor)) return stop();
    record(CacStepKind::Words);
    ++run_.inner_iterations;
  } while (has_fallen(before, em_.objective(), options_.rel_tolerance));
  return true;
}

// [Yuan08, Algorithm 1, line 11]: prototypes under fixed labels.
bool Runner::run_m_step() {
  if (!em_.update_prototypes(listener_.monitor)) return stop();
  em_.update_compositions();
  record(CacStepKind::Prototypes);
  return true;
}

void Runner::keep_first_round() {
  if (run_.iterations != 1) return;
  run_.first = {"first", em_.state().words, em_.state().phrases};
}

bool Runner::run_stage(double lambda, bool is_last, int num_stages) {
  em_.set_lambda(lambda);
  record(CacStepKind::Start);
  for (int round = 0; round < options_.max_iterations; ++round) {
    if (listener_.monitor.should_stop()) return stop();
    const double before = em_.objective();
    if (!run_e_step() || !run_m_step()) return false;
    ++run_.iterations;
    keep_first_round();
    if (is_last) run_.trace.push_back(em_.objective());
    report(num_stages * options_.max_iterations);
    if (!has_fallen(before, em_.objective(), options_.rel_tolerance)) return true;
  }
  if (is_last) run_.termination = Termination::IterationLimit;
  return true;
}

bool Runner::run_phrases() {
  record(CacStepKind::Start);
  if (has_fixed_phrases_) return true;
  // J2 is 0 times the context: what must fall is the distance of the groups from their phrases.
  double before = 0, after = em_.hamming_sum();
  for (int round = 0; round < options_.max_iterations; ++round) {
    if (!em_.update_phrases(listener_.monitor)) return stop();
    em_.update_compositions();
    before = after;
    after = em_.context_sum();
    ++run_.iterations;
    ++run_.inner_iterations;
    keep_first_round();
    record(CacStepKind::Phrases);
    run_.trace.push_back(em_.objective());
    report(options_.max_iterations);
    if (round > 0 && !has_fallen(before, after, options_.rel_tolerance)) return true;
  }
  run_.termination = Termination::IterationLimit;
  return true;
}

CacRun Runner::finish() {
  run_.words_objective = em_.words_objective();
  run_.context_objective = em_.context_objective();
  run_.state = em_.take_state();
  return std::move(run_);
}

}  // namespace

CacRun run_nested_em(const CacProblem& problem, const CacState& start, double lambda,
                     const CacOptions& options, CacListener& listener) {
  if (lambda == 0) {
    Runner runner(problem, start, 0, options, listener);
    runner.run_phrases();
    return runner.finish();
  }
  const bool in_steps = options.continuation && !start.is_refined;
  const auto num_stages = in_steps ? static_cast<int>(std::size(kContinuation)) : 1;
  Runner runner(problem, start, lambda * (in_steps ? kContinuation[0] : 1), options, listener);
  for (int stage = 0; stage < num_stages; ++stage) {
    const bool is_last = stage + 1 == num_stages;
    const double share = is_last ? 1 : kContinuation[stage];
    if (!runner.run_stage(share * lambda, is_last, num_stages)) break;
  }
  return runner.finish();
}

CacBalance balance_of(const CacProblem& problem, const CacState& start) {
  if (start.is_refined) return {start.first_balance, {}};
  const NestedEm em(problem, 1, start);
  CacBalance balance;
  double context = em.context_objective();
  if (context <= 0) {
    context = em.hamming_sum();
    balance.trouble =
        "the initial groups lie at distance 0 or less from their phrases: lambda was derived from "
        "the Hamming distance of their sets of words";
  }
  if (context <= 0) {
    context = 0;
    for (int64_t g = 0; g < problem.groups.num_groups(); ++g)
      context += problem.groups.group_weight(g);
    balance.trouble =
        "the initial groups equal their phrases: lambda was derived as if each were at distance 1";
  }
  balance.ratio = context > 0 ? em.words_objective() / context : 0;
  return balance;
}

std::vector<CacState> make_starts(const CacProblem& problem, const CacInput& input,
                                  const CacOptions& options, Monitor& monitor) {
  Monitor quiet = monitor;  // stops with it but reports nothing: k-means would report its rounds
  std::vector<CacState> starts;
  if (!input.initial_words.empty()) {
    auto start =
        start_from_labels(problem, options, input.initial_words, input.initial_phrases, quiet);
    if (start) starts.push_back(std::move(*start));
    return starts;
  }
  int num_phrase_first = 0;
  for (int restart = 0; restart < options.num_restarts; ++restart) {
    const Random random = Random(options.seed).child(static_cast<uint64_t>(restart));
    std::optional<CacState> start;
    switch (kind_of_start(problem, options.init, restart)) {
      case CacInit::Phrases:
        start = start_from_phrases(problem, num_phrase_first++, random, quiet);
        break;
      case CacInit::Random:
        start = start_at_random(problem, random);
        break;
      default:
        start = start_from_words(problem, options, random, quiet);
    }
    if (!start) break;
    starts.push_back(std::move(*start));
    monitor.on_progress("starts", restart + 1, options.num_restarts);
    if (monitor.should_stop()) break;
  }
  return starts;
}

}  // namespace milieu::internal

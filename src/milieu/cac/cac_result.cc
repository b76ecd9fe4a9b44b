// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "milieu/base/counted.h"
#include "milieu/cac/cac_result_internal.h"
#include "milieu/cac/cac_steps.h"

namespace milieu {
namespace internal {
namespace {

CacModel make_model(const CacProblem& problem, const CacOptions& options, const CacState& state,
                    double lambda) {
  CacModel model;
  int64_t widest = 0;
  for (const CacView& view : problem.views) {
    model.view_dims.push_back(static_cast<int>(view.points().cols()));
    model.view_words.push_back(view.num_words());
    model.scales.push_back(view.scale);
    widest = std::max(widest, view.points().cols());
  }
  model.prototypes = Matrix<float>(problem.num_words, widest);
  for (size_t v = 0; v < state.prototypes.size(); ++v)
    for (int64_t m = 0; m < state.prototypes[v].rows(); ++m)
      std::copy_n(state.prototypes[v].row(m), state.prototypes[v].cols(),
                  model.prototypes.row(problem.views[v].first_word + m));
  model.compositions = Matrix<float>(problem.num_phrases, problem.num_words);
  for (size_t i = 0; i < state.compositions.size(); ++i)
    model.compositions.data()[i] = state.compositions[i];
  model.lambda = lambda;
  model.transactions = problem.is_binary ? "binary" : "counts";
  model.num_neighbors =
      problem.view_neighbors > 0 ? -problem.view_neighbors : options.num_neighbors;
  model.epsilon = options.epsilon;
  model.include_self = options.include_self;
  return model;
}

std::vector<int> words_within_views(const CacProblem& problem, std::span<const int> words) {
  std::vector<int> local(words.begin(), words.end());
  for (const CacView& view : problem.views)
    for (int64_t p = view.first_primitive; p < view.first_primitive + view.size(); ++p)
      if (local[p] >= 0) local[p] -= view.first_word;
  return local;
}

std::vector<int> labels_of(const CacProblem& problem, const CacState& state,
                           std::span<const int> local_words) {
  if (!problem.has_context()) return {local_words.begin(), local_words.end()};
  const auto count =
      problem.views.size() > 1 ? problem.views[0].size() : problem.groups.num_groups();
  return {state.phrases.begin(), state.phrases.begin() + count};
}

int count_distinct_phrases(const CacProblem& problem, const CacState& state) {
  std::set<std::vector<uint8_t>> distinct;
  for (int k = 0; k < problem.num_phrases; ++k)
    distinct.emplace(state.compositions.begin() + int64_t{k} * problem.num_words,
                     state.compositions.begin() + int64_t{k + 1} * problem.num_words);
  return static_cast<int>(distinct.size());
}

std::string message_of(Termination termination, const CacOptions& options) {
  switch (termination) {
    case Termination::Converged:
      return "no step lowers the objective any further";
    case Termination::IterationLimit:
      return fmt::format(
          "max_iterations ({}) was reached before the objective settled: raise it or rel_tolerance "
          "to converge",
          options.max_iterations);
    default:
      return "stopped early: the result is the last complete step";
  }
}

void add_curve(const std::string& name, const StabilityCurve& curve, RunSummary& summary) {
  if (curve.values.empty()) return;
  summary.extra.emplace_back(name + "_tried", curve.values);
  summary.extra.emplace_back(name + "_stability", curve.stability);
}

void add_steps(const std::vector<CacStep>& steps, RunSummary& summary) {
  std::vector<std::string> kinds;
  std::vector<double> lambdas, j1, j2;
  for (const CacStep& step : steps) {
    kinds.emplace_back(to_string(step.kind));
    lambdas.push_back(step.lambda);
    j1.push_back(step.words_objective);
    j2.push_back(step.context_objective);
  }
  summary.extra.emplace_back("step_kinds", std::move(kinds));
  summary.extra.emplace_back("step_lambda", std::move(lambdas));
  summary.extra.emplace_back("step_j1", std::move(j1));
  summary.extra.emplace_back("step_j2", std::move(j2));
}

void add_extras(const CacProblem& problem, const CacReport& report, const CacResult& result,
                RunSummary& summary) {
  const auto add = [&](const char* name, SummaryValue value) {
    summary.extra.emplace_back(name, std::move(value));
  };
  add("lambda", report.lambda);
  if (report.tau > 0) add("tau", report.tau);
  add("words_objective", report.run.words_objective);
  add("context_objective", report.run.context_objective);
  std::vector<int64_t> num_words;
  for (const CacView& view : problem.views) num_words.push_back(view.num_words());
  const bool is_one =
      std::ranges::adjacent_find(num_words, std::not_equal_to<>()) == num_words.end();
  add("num_words", is_one ? SummaryValue(num_words[0]) : SummaryValue(num_words));
  add("num_phrases", int64_t{problem.num_phrases});
  if (problem.has_fixed_phrases()) add("rounds", int64_t{result.model.evidence.rounds()});
  add("num_groups", problem.groups.num_groups());
  add("words_used", int64_t{count_used(report.run.state.words, problem.num_words)});
  add("phrases_used", int64_t{count_used(result.labels, problem.num_phrases)});
  add("distinct_phrases", int64_t{count_distinct_phrases(problem, report.run.state)});
  add("inner_iterations", int64_t{report.run.inner_iterations});
  add("phrases", describe_phrases(result.model));
  add("start_objectives", report.objectives);
  add_curve("tau", report.tau_curve, summary);
  add_curve("words", report.numbers.words, summary);
  for (size_t v = 0; v < report.numbers.words_of_views.size(); ++v)
    add_curve(fmt::format("view_{}_words", v), report.numbers.words_of_views[v], summary);
  add_curve("phrases", report.numbers.phrases, summary);
  add_steps(report.run.steps, summary);
}

// Labels that use fewer phrases than were asked for, and phrases that hold no words.
void add_phrase_warnings(const CacProblem& problem, const CacReport& report,
                         const CacResult& result, RunSummary& summary) {
  const int num_used = count_used(result.labels, problem.num_phrases);
  if (num_used < problem.num_phrases)
    summary.warnings.push_back(fmt::format(
        "the labels use {} of {} phrases: ask for fewer phrases, or compare with k-means", num_used,
        problem.num_phrases));
  std::vector<int> empty;
  for (int k = 0; k < problem.num_phrases; ++k) {
    const auto words = report.run.state.compositions.begin() + int64_t{k} * problem.num_words;
    if (std::none_of(words, words + problem.num_words, [](uint8_t holds) { return holds != 0; }))
      empty.push_back(k);
  }
  if (!empty.empty())
    summary.warnings.push_back(fmt::format(
        "{} {} {} no words: no word occurs in half of {} groups; try fewer words",
        by_number(static_cast<int64_t>(empty.size()), "phrase", "phrases"), fmt::join(empty, ", "),
        by_number(static_cast<int64_t>(empty.size()), "has", "have"),
        by_number(static_cast<int64_t>(empty.size()), "its", "their")));
  const int num_distinct = count_distinct_phrases(problem, report.run.state);
  if (num_distinct < problem.num_phrases)
    summary.warnings.push_back(fmt::format("only {} of {} phrases {} distinct words", num_distinct,
                                           problem.num_phrases,
                                           by_number(num_distinct, "has", "have")));
}

void add_warnings(const CacProblem& problem, const CacReport& report, const CacResult& result,
                  RunSummary& summary) {
  summary.warnings = report.warnings;
  if (report.run.is_stopped()) return;
  if (!problem.has_context()) {
    summary.warnings.emplace_back(
        "there is no context: the words are those of k-means; positions, groups or several views "
        "give context");
    return;
  }
  const int num_empty = problem.num_words - count_used(report.run.state.words, problem.num_words);
  if (num_empty > 0)
    summary.warnings.push_back(fmt::format("{} of {} words {} empty", num_empty, problem.num_words,
                                           by_number(num_empty, "is", "are")));
  add_phrase_warnings(problem, report, result, summary);
}

RunSummary summarise(const CacProblem& problem, const CacOptions& options, const CacReport& report,
                     const CacResult& result) {
  RunSummary summary;
  summary.method = CacModel::kKind;
  summary.version = version();
  summary.seed = options.seed;
  summary.termination = report.run.termination;
  summary.message = message_of(summary.termination, options);
  summary.objective = report.run.objective();
  summary.trace = report.run.trace;
  summary.iterations = report.run.iterations;
  summary.restart = report.restart;
  summary.num_restarts = std::max(1, report.num_restarts);
  summary.n = problem.views[0].size();
  for (const CacView& view : problem.views) summary.d += view.points().cols();
  set_sizes(summary, result.labels,
            problem.has_context() ? problem.num_phrases : problem.num_words);
  if (problem.has_context()) add_extras(problem, report, result, summary);
  add_warnings(problem, report, result, summary);
  return summary;
}

}  // namespace

CacResult make_result(const CacProblem& problem, const CacOptions& options, CacReport report,
                      const Monitor& monitor) {
  CacResult result;
  result.model = make_model(problem, options, report.run.state, report.lambda);
  result.model.evidence = std::move(report.evidence);
  result.words = words_within_views(problem, report.run.state.words);
  result.phrases = report.run.state.phrases;
  result.labels = labels_of(problem, report.run.state, result.words);
  result.steps = report.run.steps;
  if (problem.has_context()) {
    result.snapshots.push_back(
        {"start", words_within_views(problem, report.start.words), report.start.phrases});
    if (!report.run.first.words.empty())
      result.snapshots.push_back(
          {"first", words_within_views(problem, report.run.first.words), report.run.first.phrases});
    result.snapshots.push_back({"final", result.words, result.phrases});
  }
  result.summary = summarise(problem, options, report, result);
  if (!report.run.is_stopped()) {
    NestedEm em(problem, report.lambda, std::move(report.run.state));
    if (auto margins = em.margins(monitor)) result.margins = std::move(*margins);
  }
  return result;
}

CacResult make_stopped_result(const CacProblem& problem, const CacOptions& options,
                              const Monitor& monitor) {
  CacReport report;
  report.run.termination = termination_from(monitor.stop_reason());
  report.run.state.words.assign(static_cast<size_t>(problem.num_primitives), -1);
  report.run.state.phrases.assign(static_cast<size_t>(problem.groups.num_groups()), -1);
  report.run.state.compositions.assign(
      static_cast<size_t>(problem.num_phrases) * static_cast<size_t>(problem.num_words), 0);
  report.start = report.run.state;
  return make_result(problem, options, std::move(report), monitor);
}

}  // namespace internal

const char* to_string(CacStepKind kind) {
  switch (kind) {
    case CacStepKind::Start:
      return "start";
    case CacStepKind::Phrases:
      return "phrases";
    case CacStepKind::Words:
      return "words";
    case CacStepKind::Prototypes:
      return "prototypes";
  }
  return "";
}

std::vector<std::string> describe_phrases(const CacModel& model) {
  std::vector<std::string> lines;
  for (int64_t k = 0; k < model.compositions.rows(); ++k) {
    std::vector<std::string> words;
    int first = 0;
    for (int v = 0; v < model.num_views(); ++v) {
      for (int m = 0; m < model.view_words[v]; ++m)
        if (model.compositions(k, first + m) > 0)
          words.push_back(model.num_views() > 1 ? fmt::format("{}:{}", v, m)
                                                : fmt::format("{}", m));
      first += model.view_words[v];
    }
    lines.push_back(words.empty() ? fmt::format("phrase {} = no words", k)
                                  : fmt::format("phrase {} = words {}", k, fmt::join(words, ", ")));
  }
  return lines;
}

}  // namespace milieu

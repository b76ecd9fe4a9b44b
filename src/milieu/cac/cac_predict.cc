// SPDX-License-Identifier: Apache-2.0
// Labels of new samples and groups under a fitted model: the E-step of nested EM alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/cac/cac.h"
#include "milieu/cac/cac_evidence_internal.h"
#include "milieu/cac/cac_problem_internal.h"
#include "milieu/cac/cac_steps.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/linalg/distance.h"

namespace milieu {
namespace {

template <class Fail>
void check_evidence(const CacModel& model, const Fail& fail) {
  const CacEvidence& evidence = model.evidence;
  if (evidence.phrases.empty() || model.compositions.rows() == 0) return;
  const int64_t d = std::accumulate(model.view_dims.begin(), model.view_dims.end(), int64_t{0});
  const bool has_lexicon = !evidence.lexicon.empty();
  if (evidence.phrases.rows() != model.compositions.rows() ||
      evidence.phrases.cols() != evidence.lexicon.rows() + d ||
      static_cast<int64_t>(evidence.means.size()) != d)
    fail("the evidence must have one row per phrase and one column per fine word and feature");
  if (evidence.weights.size() != 3 || !(evidence.weights[2] >= 0 && evidence.weights[2] <= 1e6))
    fail("evidence_weights must have two factors and the number of rounds");
  if (has_lexicon && (evidence.lexicon.cols() != model.prototypes.cols() ||
                      evidence.lexicon_words.size() != model.view_dims.size() ||
                      std::accumulate(evidence.lexicon_words.begin(), evidence.lexicon_words.end(),
                                      int64_t{0}) != evidence.lexicon.rows() ||
                      std::any_of(evidence.lexicon_words.begin(), evidence.lexicon_words.end(),
                                  [](int count) { return count < 1; })))
    fail("evidence_lexicon_words must add up to the rows of evidence_lexicon");
}

// The model may come from a damaged file.
void check_model(const CacModel& model) {
  const auto views = static_cast<size_t>(model.num_views());
  const auto fail = [](const char* what) {
    throw DataError(fmt::format("the model is inconsistent: {}", what));
  };
  if (views == 0 || model.view_words.size() != views || model.scales.size() != views)
    fail("view_dims, view_words and scales must have one entry per view");
  int64_t words = 0;
  for (size_t v = 0; v < views; ++v) {
    if (model.view_dims[v] < 1 || model.view_dims[v] > model.prototypes.cols())
      fail("view_dims must be at most the columns of prototypes");
    if (model.view_words[v] < 1) fail("view_words must be at least 1");
    words += model.view_words[v];
  }
  if (words != model.prototypes.rows()) fail("view_words must add up to the rows of prototypes");
  if (model.compositions.rows() > 0 && model.compositions.cols() != words)
    fail("compositions must have one column per word");
  check_evidence(model, fail);
}

KMeansModel words_of_view(const CacModel& model, int view) {
  const int64_t first =
      std::accumulate(model.view_words.begin(), model.view_words.begin() + view, int64_t{0});
  KMeansModel words{Matrix<float>(model.view_words[view], model.view_dims[view])};
  for (int64_t m = 0; m < words.centers.rows(); ++m)
    std::copy_n(model.prototypes.row(first + m), words.centers.cols(), words.centers.row(m));
  return words;
}

CacOptions options_of(const CacModel& model, int num_threads) {
  CacOptions options;
  options.num_words = 1;
  options.num_phrases = 1;
  options.num_neighbors = std::max(1, std::abs(model.num_neighbors));
  options.view_neighbors = 0;
  options.epsilon = model.epsilon;
  options.include_self = model.include_self != 0;
  options.transactions =
      model.transactions == "binary" ? CacTransactions::Binary : CacTransactions::Counts;
  options.num_threads = num_threads;
  options.phrase_model =
      model.evidence.phrases.empty() ? CacPhraseModel::Counts : CacPhraseModel::Shares;
  return options;
}

// The new samples as a problem with the model's words, phrases and scales.
internal::CacProblem problem_of(const CacModel& model, const CacInput& input, int num_threads) {
  require(static_cast<int>(input.views.size()) == model.num_views(), [&] {
    return fmt::format("there are {}, the model has {}: they must match",
                       counted(input.views.size(), "view"), model.num_views());
  });
  internal::CacProblem problem =
      internal::make_cac_problem(input, options_of(model, num_threads), silent_monitor());
  require(problem.has_context(),
          "new groups need groups, positions or several views; predict takes samples alone");
  problem.num_phrases = static_cast<int>(model.compositions.rows());
  problem.num_words = 0;
  for (size_t v = 0; v < problem.views.size(); ++v) {
    internal::CacView& view = problem.views[v];
    require(view.points().cols() == model.view_dims[v], [&] {
      return fmt::format("view {} has {}, the model has {}: they must match", v,
                         counted(view.points().cols(), "column"), model.view_dims[v]);
    });
    view.problem.num_clusters = model.view_words[v];
    view.scale = model.scales[v];
    view.first_word = problem.num_words;
    problem.num_words += model.view_words[v];
  }
  return problem;
}

// For each phrase: the least that a primitive adds to a group of it, if all of its groups are of
// it.
Matrix<double> costs_in_phrases(const internal::CacProblem& problem,
                                const internal::CacState& state, double lambda) {
  constexpr int64_t kRows = 512;
  Matrix<double> costs(problem.num_primitives, problem.num_phrases);
  for (size_t v = 0; v < problem.views.size(); ++v) {
    const internal::CacView& view = problem.views[v];
    parallel_for(view.size(), kRows, problem.num_threads, [&](const Block& block) {
      for (int64_t i = block.begin; i < block.end; ++i) {
        const int64_t p = view.first_primitive + i;
        double around = 0;
        for (int64_t e = problem.groups_of.offsets[p]; e < problem.groups_of.offsets[p + 1]; ++e)
          around += problem.groups_of.member_weight(e) *
                    problem.groups.group_weight(problem.groups_of.members[e]);
        std::fill_n(costs.row(p), costs.cols(), std::numeric_limits<double>::infinity());
        for (int m = 0; m < view.num_words(); ++m) {
          const double distance =
              view.scale *
              squared_distance(view.points().row_span(i), state.prototypes[v].view().row_span(m));
          for (int k = 0; k < problem.num_phrases; ++k) {
            const bool holds = state.compositions[k * problem.num_words + view.first_word + m] != 0;
            costs(p, k) = std::min(
                costs(p, k), distance / std::max(around, 1e-300) + (holds ? -lambda : lambda));
          }
        }
      }
    });
  }
  return costs;
}

// The phrase of lowest J for each group as if there were no others around its members.
std::vector<int> phrases_of_groups_alone(const internal::CacProblem& problem,
                                         const internal::CacState& state, double lambda) {
  const Matrix<double> costs = costs_in_phrases(problem, state, lambda);
  std::vector<int> phrases(static_cast<size_t>(problem.groups.num_groups()));
  for (int64_t g = 0; g < problem.groups.num_groups(); ++g) {
    double lowest = std::numeric_limits<double>::infinity();
    for (int k = 0; k < problem.num_phrases; ++k) {
      const auto words = state.compositions.begin() + int64_t{k} * problem.num_words;
      double cost = lambda * std::accumulate(words, words + problem.num_words, 0.0);
      for (int64_t e = problem.groups.offsets[g]; e < problem.groups.offsets[g + 1]; ++e)
        cost += problem.groups.member_weight(e) * costs(problem.groups.members[e], k);
      if (cost >= lowest) continue;
      lowest = cost;
      phrases[g] = k;
    }
  }
  return phrases;
}

// Phrases of the new groups by their shares: the nearest of the model's.
std::vector<int> phrases_by_shares(const CacModel& model, const CacInput& input,
                                   const internal::CacProblem& problem, int num_threads) {
  KMeansModel phrases{model.evidence.phrases};
  const Matrix<float> rows = internal::gather_evidence(
      model.evidence, input.views, model.scales, problem.evidence, num_threads, silent_monitor());
  return phrases_of_problem(problem, predict(phrases, rows, num_threads));
}

// The E-step [Yuan08, Algorithm 1, lines 4 to 8] until J stops falling.
void run_e_step(internal::NestedEm& em) {
  double before = 0;
  do {
    before = em.objective();
    em.update_phrases(silent_monitor());
    em.update_words(silent_monitor());
  } while (em.objective() < before);
  em.update_phrases(silent_monitor());
}

CacPrediction prediction_of(const internal::CacProblem& problem, const internal::CacState& state) {
  CacPrediction prediction;
  prediction.words = state.words;
  for (const internal::CacView& view : problem.views)
    for (int64_t i = 0; i < view.size(); ++i)
      prediction.words[view.first_primitive + i] -= view.first_word;
  prediction.phrases = state.phrases;
  prediction.labels = prediction.phrases;
  if (problem.views.size() > 1)
    prediction.labels.resize(static_cast<size_t>(problem.views[0].size()));
  return prediction;
}

}  // namespace

std::vector<int> predict(const CacModel& model, FloatView points, int num_threads) {
  check_model(model);
  require(model.num_views() == 1, [&] {
    return fmt::format(
        "the model has {}: give all of them; only a model of one view labels samples alone",
        counted(model.num_views(), "view"));
  });
  return predict(words_of_view(model, 0), points, num_threads);
}

CacPrediction predict_groups(const CacModel& model, const CacInput& input, int num_threads) {
  check_model(model);
  require(model.compositions.rows() > 0,
          "the model was fitted without context: it has no phrases for new groups");
  ContextGroups near;
  CacInput with_groups = input;
  const bool has_context = input.groups || input.positions.rows() > 0;
  if (model.num_neighbors < 0 && !has_context && input.views.size() == model.scales.size() &&
      input.views[0].rows() > 0) {
    near = neighbors_in_views(input.views, model.scales, -model.num_neighbors, num_threads);
    with_groups.groups = &near;
  }
  internal::CacProblem problem = problem_of(model, with_groups, num_threads);
  if (with_groups.groups == &near && problem.is_by_shares()) problem.evidence = std::move(near);
  internal::CacState state;
  for (size_t v = 0; v < problem.views.size(); ++v) {
    KMeansModel words = words_of_view(model, static_cast<int>(v));
    for (const int word : predict(words, input.views[v], num_threads))
      state.words.push_back(problem.views[v].first_word + word);
    state.prototypes.push_back(std::move(words.centers));
  }
  state.phrases.assign(static_cast<size_t>(problem.groups.num_groups()), 0);
  for (int64_t i = 0; i < model.compositions.size(); ++i)
    state.compositions.push_back(model.compositions.data()[i] > 0);
  if (!model.evidence.phrases.empty()) {
    state.phrases = phrases_by_shares(model, input, problem, num_threads);
    internal::NestedEm em(problem, model.lambda, std::move(state));
    em.update_words(silent_monitor());
    return prediction_of(problem, em.state());
  }
  // From words by features, and from phrases of groups alone: the lower J counts.
  internal::CacState other = state;
  other.phrases = phrases_of_groups_alone(problem, state, model.lambda);
  internal::NestedEm by_words(problem, model.lambda, std::move(state));
  run_e_step(by_words);
  internal::NestedEm by_phrases(problem, model.lambda, std::move(other));
  by_phrases.update_words(silent_monitor());
  run_e_step(by_phrases);
  const internal::NestedEm& em =
      by_phrases.objective() < by_words.objective() ? by_phrases : by_words;
  return prediction_of(problem, em.state());
}

}  // namespace milieu

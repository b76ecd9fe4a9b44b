// SPDX-License-Identifier: Apache-2.0
// Labels of new samples and groups under a fitted model: the E-step of nested EM alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/cac/cac.h"
#include "milieu/cac/cac_problem_internal.h"
#include "milieu/cac/cac_steps.h"
#include "milieu/classic/kmeans.h"

namespace milieu {
namespace {

// A file may hold anything.
void check_model(const CacModel& model) {
  const auto views = static_cast<size_t>(model.num_views());
  const auto fail = [](const char* what) {
    throw DataError(fmt::format("the model does not fit together: {}", what));
  };
  if (views == 0 || model.view_words.size() != views || model.scales.size() != views)
    fail("view_dims, view_words and scales must have one entry a view");
  int64_t words = 0;
  for (size_t v = 0; v < views; ++v) {
    if (model.view_dims[v] < 1 || model.view_dims[v] > model.prototypes.cols())
      fail("view_dims must be at most the columns of prototypes");
    if (model.view_words[v] < 1) fail("view_words must be at least 1");
    words += model.view_words[v];
  }
  if (words != model.prototypes.rows()) fail("view_words must add up to the rows of prototypes");
  if (model.compositions.rows() > 0 && model.compositions.cols() != words)
    fail("compositions must have a column a word");
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
  return options;
}

// The new samples as a problem with the model's words, phrases and scales.
internal::CacProblem problem_of(const CacModel& model, const CacInput& input, int num_threads) {
  require(static_cast<int>(input.views.size()) == model.num_views(), [&] {
    return fmt::format("there are {} views, the model has {}: they must match", input.views.size(),
                       model.num_views());
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
      return fmt::format("view {} has {} columns, the model has {}: they must match", v,
                         view.points().cols(), model.view_dims[v]);
    });
    view.problem.num_clusters = model.view_words[v];
    view.scale = model.scales[v];
    view.first_word = problem.num_words;
    problem.num_words += model.view_words[v];
  }
  return problem;
}

}  // namespace

std::vector<int> predict(const CacModel& model, FloatView points, int num_threads) {
  check_model(model);
  require(model.num_views() == 1, [&] {
    return fmt::format("the model has {} views: give all of them, samples alone need one view",
                       model.num_views());
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
  const internal::CacProblem problem = problem_of(model, with_groups, num_threads);
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
  internal::NestedEm em(problem, model.lambda, std::move(state));
  double before = 0;
  do {
    before = em.objective();
    em.update_phrases(silent_monitor());
    em.update_words(silent_monitor());
  } while (em.objective() < before);
  em.update_phrases(silent_monitor());
  CacPrediction prediction;
  prediction.words = em.state().words;
  for (const internal::CacView& view : problem.views)
    for (int64_t i = 0; i < view.size(); ++i)
      prediction.words[view.first_primitive + i] -= view.first_word;
  prediction.phrases = em.state().phrases;
  prediction.labels = prediction.phrases;
  if (problem.views.size() > 1)
    prediction.labels.resize(static_cast<size_t>(problem.views[0].size()));
  return prediction;
}

}  // namespace milieu

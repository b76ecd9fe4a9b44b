// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/search/exemplar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/exemplar/search/dual_bound_internal.h"
#include "milieu/exemplar/search/exemplar_cases_internal.h"
#include "milieu/exemplar/search/kmedoids.h"
#include "milieu/linalg/kernel.h"

namespace milieu::internal {
namespace {

using ::testing::HasSubstr;

TEST(Exemplar, FindsTheExhaustiveOptimumAndABoundBelowIt) {
  int instances = 0, closed = 0;
  for (const Kind kind : kKinds)
    for (const int n : {2, 5, 8, 11})
      for (const double penalty : {0.05, 0.3, 1.0, 4.0}) {
        const Matrix<float> costs = random_costs(kind, n, 17 * n + static_cast<int>(kind));
        const std::vector<double> penalties(n, penalty);
        const double optimum = exhaustive_optimum(costs, penalties);
        ExemplarInput input;
        input.costs = costs;
        const ExemplarResult result = fit_exemplar(input, with_penalty_text(penalty));
        EXPECT_NEAR(result.energy, optimum, 1e-6 * (1 + std::abs(optimum)))
            << "kind " << static_cast<int>(kind) << " n " << n << " penalty " << penalty;
        EXPECT_LE(result.lower_bound, optimum + 1e-9);
        EXPECT_NEAR(result.energy, energy_of(result, costs, penalties), 1e-9);
        ++instances;
        closed += result.gap < 1e-6;
      }
  // The linear relaxation is tight on nearly all small instances; a bound that never closes would
  // be a wrong one.
  EXPECT_GT(closed, instances / 2);
}

// Golden case G3: n equidistant samples.
TEST(Exemplar, EquidistantSamplesHaveTheKnownOptimum) {
  for (const double penalty : {0.5, 1.0, 3.0}) {
    const int n = 6;
    Matrix<float> costs(n, n);
    for (int64_t i = 0; i < costs.size(); ++i) costs.data()[i] = 1;
    ExemplarInput input;
    input.costs = costs;
    const ExemplarResult result = fit_exemplar(input, with_penalty_text(penalty));
    const double expected = 1 <= penalty ? penalty + (n - 1) : n * penalty;
    EXPECT_NEAR(result.energy, expected, 1e-9);
    EXPECT_NEAR(result.lower_bound, expected, 1e-6 * expected);
  }
}

// Golden case G4: the relaxation has a gap, and v = f/2 shows it.
TEST(Exemplar, ThreeCycleHasOptimumTwoAndRelaxationOneAndAHalf) {
  const double f = 1.0;
  Matrix<float> costs(3, 3);
  for (int64_t i = 0; i < costs.size(); ++i) costs.data()[i] = 5;
  for (int p = 0; p < 3; ++p) costs(p, (p + 1) % 3) = 0;
  ExemplarInput input;
  input.costs = costs;
  const ExemplarResult result = fit_exemplar(input, with_penalty_text(f));
  EXPECT_NEAR(result.energy, 2 * f, 1e-9);
  EXPECT_LE(result.lower_bound, 1.5 * f + 1e-9);
  EXPECT_GE(result.lower_bound, 1.49 * f);
  const ServiceLists lists =
      lists_from_matrix(costs, std::vector<double>(3, f), 1, silent_monitor());
  const internal::DualPoint half =
      internal::evaluate_dual(lists, {f / 2, f / 2, f / 2}, 1, silent_monitor());
  EXPECT_NEAR(half.bound, 1.5 * f, 1e-9);
}

TEST(Exemplar, CutListsGiveABoundForTheFullProblem) {
  Random random(6);
  Matrix<float> points(60, 2);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(random.uniform());
  ExemplarInput input;
  input.points = points;
  ExemplarOptions options = with_penalty_text(0.4);
  const ExemplarResult full = fit_exemplar(input, options);
  ASSERT_LT(full.gap, 1e-4);
  for (const int kept : {2, 5, 20}) {
    options.num_neighbors = kept;
    const ExemplarResult cut = fit_exemplar(input, options);
    EXPECT_LE(cut.lower_bound, full.energy + 1e-9) << kept;
    EXPECT_GE(cut.energy, full.lower_bound - 1e-9) << kept;
    // Every sample is with its truly nearest exemplar.
    EXPECT_EQ(cut.labels, predict(cut.model, points)) << kept;
  }
}

TEST(Exemplar, BothStartsEndWithinTheGapOfEachOther) {
  const Matrix<float> costs = random_costs(Kind::Gaussian, 120, 9);
  ExemplarInput input;
  input.costs = costs;
  ExemplarOptions options = with_penalty_text(0.8);
  const ExemplarResult greedy = fit_exemplar(input, options);
  options.init = ExemplarInit::Stabilities;
  const ExemplarResult stable = fit_exemplar(input, options);
  EXPECT_GE(stable.energy, greedy.lower_bound - 1e-9);
  EXPECT_GE(greedy.energy, stable.lower_bound - 1e-9);
  EXPECT_LT(stable.gap, 0.02);
}

TEST(Exemplar, FixedSamplesKeepTheirStateInTheOptimum) {
  const Matrix<float> costs = random_costs(Kind::Gaussian, 11, 12);
  ExemplarInput input;
  input.costs = costs;
  const ExemplarResult result = fit_exemplar(input, with_penalty_text(0.7));
  const int exemplars = static_cast<int>(result.model.rows.size());
  EXPECT_LE(result.num_fixed_open, exemplars);
  EXPECT_LE(result.num_fixed_closed, 11 - exemplars);
}

TEST(Exemplar, PenaltiesPerSampleAreObeyed) {
  Matrix<float> points(4, 1);
  for (int i = 0; i < 4; ++i) points(i, 0) = static_cast<float>(i);
  const std::vector<double> penalties = {9, 0.1, 9, 9};
  ExemplarInput input;
  input.points = points;
  input.penalties = penalties;
  const ExemplarResult result = fit_exemplar(input, {});
  EXPECT_EQ(result.model.rows, (std::vector<int64_t>{1}));
  EXPECT_NEAR(result.energy, 0.1 + 1 + 1 + 2, 1e-6);
}

TEST(Exemplar, EdgeCasesHaveDefinedResults) {
  ExemplarInput input;
  Matrix<float> one(1, 2);
  input.points = one;
  EXPECT_EQ(fit_exemplar(input, {}).labels, std::vector<int>{0});

  Matrix<float> equal(5, 2);
  input.points = equal;
  const ExemplarResult same = fit_exemplar(input, with_penalty_text(1));
  EXPECT_EQ(same.model.rows.size(), 1u);
  EXPECT_NEAR(same.energy, 1, 1e-9);
  EXPECT_EQ(fit_exemplar(input, {}).model.rows.size(), 1u);  // the median of the distances is 0

  Matrix<float> line(5, 1);
  for (int i = 0; i < 5; ++i) line(i, 0) = static_cast<float>(i);
  input.points = line;
  EXPECT_EQ(fit_exemplar(input, with_penalty_text(1e6)).model.rows, (std::vector<int64_t>{2}));
  EXPECT_EQ(fit_exemplar(input, with_penalty_text(0)).model.rows.size(), 5u);
  EXPECT_EQ(fit_exemplar(input, with_penalty_text(-1)).energy, -5);
}

// gamma was 1 / columns here and 1 / the mean of |x - y|^2 in a learned distance. With large
// numbers all distances were then the root of 2, and every prediction was the first exemplar.
TEST(Exemplar, RbfHasTheGammaOfALearnedDistanceInAnyUnit_issue28) {
  Random random(5);
  Matrix<float> points(60, 3), large(60, 3);
  for (int64_t i = 0; i < points.size(); ++i) {
    points.data()[i] = static_cast<float>(random.normal());
    large.data()[i] = 1024 * points.data()[i];
  }
  ExemplarOptions options;
  options.distance = Distance::Rbf;
  options.num_clusters = 4;
  const auto fit = [&](const Matrix<float>& some) {
    ExemplarInput input;
    input.points = some;
    return fit_exemplar(input, options);
  };
  const ExemplarResult result = fit(points), of_large = fit(large);
  Matrix<float> costs(60, 60);
  pair_distances(Distance::Rbf, points, points, costs, choose_gamma(Kernel::Rbf, points));
  double energy = 0;
  for (size_t p = 0; p < result.labels.size(); ++p)
    energy += costs(static_cast<int64_t>(p), result.model.rows[result.labels[p]]);
  EXPECT_NEAR(result.energy, energy, 1e-5 * energy);
  EXPECT_EQ(of_large.labels, result.labels);
  EXPECT_NEAR(of_large.energy, result.energy, 1e-5 * energy);
  EXPECT_EQ(predict(of_large.model, large), result.labels);
  KMedoidsOptions medoids;
  medoids.distance = Distance::Rbf;
  medoids.num_clusters = 4;
  const KMedoidsResult found = fit_kmedoids({large, {}, {}}, medoids);
  EXPECT_GE(found.summary.objective, of_large.lower_bound * (1 - 1e-6));
  EXPECT_LT(found.summary.objective, 1.1 * of_large.energy);  // all at the root of 2: 56 of these
  EXPECT_EQ(predict(found.model, large), found.labels);
}

TEST(Exemplar, SampleWithoutAServerBecomesItsOwnExemplar) {
  const ServiceLists lists =
      lists_from_entries(3, {{0, 1, 0.5f}, {1, 0, 0.5f}}, std::vector<double>(3, 2.0), {});
  ExemplarInput input;
  input.lists = &lists;
  const ExemplarResult result = fit_exemplar(input, {});
  EXPECT_NEAR(result.energy, 2 + 0.5 + 2, 1e-6);
  EXPECT_EQ(result.model.rows.back(), 2);
}

void expect_refused(const ExemplarInput& input, const ExemplarOptions& options, const char* part) {
  try {
    fit_exemplar(input, options);
    FAIL() << "accepted; expected a message with: " << part;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(Exemplar, BadInputIsNamed) {
  ExemplarInput none;
  expect_refused(none, {}, "exactly one");
  Matrix<float> points(3, 2);
  ExemplarInput input;
  input.points = points;
  ExemplarOptions options;
  options.penalty = "cheap";
  expect_refused(input, options, "penalty is 'cheap'");
  options = {};
  options.num_clusters = 4;
  expect_refused(input, options, "num_clusters is 4");
  points(1, 1) = NAN;
  expect_refused(input, {}, "row 1, column 1");
  Matrix<float> oblong(2, 3);
  ExemplarInput matrix;
  matrix.costs = oblong;
  expect_refused(matrix, {}, "2 x 3");
  Matrix<float> broken(2, 2);
  broken(0, 1) = NAN;
  matrix.costs = broken;
  expect_refused(matrix, with_penalty_text(1), "row 0 by column 1");
  const std::vector<double> short_penalties = {1.0};
  input.points = oblong;
  input.penalties = short_penalties;
  expect_refused(input, {}, "penalty has 1 value");
}

TEST(Exemplar, ThreadsDoNotChangeTheBits) {
  Random random(15);
  Matrix<float> points(700, 3);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(random.normal());
  ExemplarInput input;
  input.points = points;
  ExemplarOptions options;
  options.num_threads = 1;
  const ExemplarResult single = fit_exemplar(input, options);
  for (const int threads : {2, 8}) {
    options.num_threads = threads;
    const ExemplarResult result = fit_exemplar(input, options);
    EXPECT_EQ(result.labels, single.labels);
    EXPECT_EQ(result.energy, single.energy);
    EXPECT_EQ(result.lower_bound, single.lower_bound);
  }
}

TEST(Exemplar, CancelledRunIsValidAndSaysSo) {
  Random random(16);
  Matrix<float> points(400, 2);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(random.normal());
  std::stop_source stop;
  stop.request_stop();
  Monitor monitor(stop.get_token());
  ExemplarInput input;
  input.points = points;
  const ExemplarResult result = fit_exemplar(input, {}, monitor);
  EXPECT_EQ(result.summary.termination, Termination::Cancelled);
  ASSERT_EQ(result.labels.size(), 400u);
  for (int label : result.labels)
    EXPECT_TRUE(label >= 0 && label < static_cast<int>(result.model.rows.size()));
  EXPECT_LE(result.lower_bound, result.energy);
}

}  // namespace
}  // namespace milieu::internal

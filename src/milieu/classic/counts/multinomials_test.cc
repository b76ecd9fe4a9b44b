// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/counts/multinomials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;

Matrix<float> make_rows(uint64_t seed, std::vector<int>& labels) {
  Matrix<float> counts(60, 12);
  Random random(seed);
  for (int d = 0; d < 60; ++d) {
    labels.push_back(d % 3);
    for (int i = 0; i < 40; ++i)
      counts(d, random.bernoulli(0.7) ? 4 * (d % 3) + random.uniform_index(4)
                                      : random.uniform_index(12)) += 1;
  }
  return counts;
}

// The objective from its definition.
double objective_of(const MultinomialsModel& model, const Matrix<float>& counts, double smoothing) {
  double total = 0;
  for (int64_t d = 0; d < counts.rows(); ++d) {
    double sum = 0;
    for (int64_t j = 0; j < model.words.rows(); ++j) {
      double product = model.weights[j];
      for (int64_t v = 0; v < counts.cols(); ++v)
        product *= std::pow(model.words(j, v), static_cast<double>(counts(d, v)));
      sum += product;
    }
    total += std::log(sum);
  }
  for (int64_t i = 0; i < model.words.size(); ++i)
    total += smoothing * std::log(model.words.data()[i]);
  return total;
}

TEST(Multinomials, ClustersAreFoundAndPredicted) {
  std::vector<int> truth;
  const Matrix<float> counts = make_rows(1, truth);
  MultinomialsOptions options;
  options.num_clusters = 3;
  const MultinomialsResult result = fit_multinomials({counts.view()}, options);
  EXPECT_THAT(result.labels, IsSamePartitionAs(truth));
  EXPECT_EQ(predict(result.model, counts), result.labels);
  EXPECT_THAT(result.summary.trace, NeverFalls(1e-12));
  EXPECT_NEAR(result.summary.objective, objective_of(result.model, counts, options.smoothing),
              1e-9 * std::abs(result.summary.objective));
}

TEST(Multinomials, OneClusterHasTheFrequenciesOfAllRows) {
  Matrix<float> counts(2, 2);
  counts(0, 0) = 3, counts(1, 1) = 1;
  MultinomialsOptions options;
  options.num_clusters = 1, options.smoothing = 1;
  const MultinomialsModel model = fit_multinomials({counts.view()}, options).model;
  EXPECT_NEAR(model.words(0, 0), 4.0 / 6, 1e-12);
  EXPECT_NEAR(model.words(0, 1), 2.0 / 6, 1e-12);
}

// At the end no frequency and no weight can be moved to a higher objective.
TEST(Multinomials, FixedPointIsStationary) {
  std::vector<int> truth;
  const Matrix<float> counts = make_rows(2, truth);
  MultinomialsOptions options;
  options.num_clusters = 2, options.rel_tolerance = 0, options.max_iterations = 200;
  const MultinomialsModel best = fit_multinomials({counts.view()}, options).model;
  const double top = objective_of(best, counts, options.smoothing);
  for (const double step : {1e-4, -1e-4}) {
    for (int64_t v = 1; v < counts.cols(); ++v) {
      MultinomialsModel moved = best;
      moved.words(0, 0) += step, moved.words(0, v) -= step;
      EXPECT_LT(objective_of(moved, counts, options.smoothing), top + 1e-9 * std::abs(top));
    }
    MultinomialsModel moved = best;
    moved.weights[0] += step, moved.weights[1] -= step;
    EXPECT_LT(objective_of(moved, counts, options.smoothing), top + 1e-9 * std::abs(top));
  }
}

TEST(Multinomials, ThreadsChangeNoBit) {
  std::vector<int> truth;
  Matrix<float> counts(300, 12);
  Random random(3);
  for (int64_t i = 0; i < counts.size(); ++i)
    counts.data()[i] = static_cast<float>(random.uniform_index(6));
  MultinomialsOptions options;
  options.num_clusters = 4, options.num_threads = 1, options.num_restarts = 2;
  const MultinomialsResult one = fit_multinomials({counts.view()}, options);
  options.num_threads = 2;
  const MultinomialsResult two = fit_multinomials({counts.view()}, options);
  EXPECT_THAT(one.summary.trace, HasBitsOf(two.summary.trace));
  EXPECT_EQ(one.labels, two.labels);
}

TEST(Multinomials, BadInputIsRefused) {
  Matrix<float> counts(3, 2);
  MultinomialsOptions options;
  EXPECT_THAT(message_of([&] { fit_multinomials({counts.view()}, options); }),
              HasSubstr("num_clusters is 8, there are only 3 samples"));
  counts(1, 1) = std::nanf("");
  options.num_clusters = 1;
  EXPECT_THAT(message_of([&] { fit_multinomials({counts.view()}, options); }),
              HasSubstr("row 1, column 1"));
  MultinomialsModel broken;
  broken.weights = {1};
  broken.words = Matrix<double>(1, 2);  // zeros
  EXPECT_THROW(predict(broken, Matrix<float>(1, 2)), DataError);
}

// A row without words belongs to the heaviest cluster.
TEST(Multinomials, EmptyRowsGoByWeight) {
  MultinomialsModel model;
  model.weights = {0.3, 0.7};
  model.words = Matrix<double>(2, 2);
  std::fill_n(model.words.data(), 4, 0.5);
  EXPECT_EQ(predict(model, Matrix<float>(1, 2)), std::vector<int>{1});
}

}  // namespace
}  // namespace milieu

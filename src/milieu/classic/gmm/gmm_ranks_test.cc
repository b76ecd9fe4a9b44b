// SPDX-License-Identifier: Apache-2.0
// Gaussian mixtures over ranks give the bits of those on one: labels, model, trace.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/base/rows.h"
#include "milieu/classic/gmm/gmm.h"

namespace milieu {
namespace {

struct Case {
  std::string name;
  int64_t n = 0;
  GmmCovariance covariance = GmmCovariance::Diagonal;
  GmmInit init = GmmInit::KMeans;
  bool has_weights = false;
};

GmmOptions options_of(const Case& c) {
  GmmOptions options;
  options.num_clusters = 4;
  options.covariance = c.covariance;
  options.init = c.init;
  options.max_iterations = 6;
  options.rel_tolerance = 0;
  options.num_restarts = 2;
  options.num_threads = 1;
  return options;
}

Matrix<float> points_of(int64_t n) {
  Random random(n);
  Matrix<float> points(n, 5);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t t = 0; t < 5; ++t)
      points(i, t) = static_cast<float>(random.normal() + 5.0 * static_cast<double>(i % 4 == t));
  return points;
}

// The first shard has no weight.
std::vector<double> weights_of(const Case& c) {
  if (!c.has_weights) return {};
  Random random(7);
  std::vector<double> weights(c.n);
  for (int64_t i = std::min<int64_t>(c.n / 2, 2500); i < c.n; ++i) weights[i] = random.uniform();
  return weights;
}

// What a rank has of something that has one entry per row.
std::vector<int> own_part(const Rows& rows, const std::vector<int>& all) {
  return {all.begin() + rows.begin(), all.begin() + rows.end()};
}

TEST(GmmRanks, AnyNumberOfRanksGivesTheBitsOfOne) {
  const std::vector<Case> cases = {
      {"one shard", 300},
      {"one row in the last shard", 2 * GmmInput::kBlockRows + 1, GmmCovariance::Full},
      {"weights", 9000, GmmCovariance::Tied, GmmInit::KMeans, true},
      {"random start", 9000, GmmCovariance::Spherical, GmmInit::Random, true},
      {"more than sixteen shards", 40000}};
  for (const Case& c : cases) {
    const Matrix<float> points = points_of(c.n);
    const std::vector<double> weights = weights_of(c);
    const GmmResult alone = fit_gmm({.points = points, .weights = weights}, options_of(c));
    for (const int size : {2, 3, 7}) {
      run_as_ranks(size, [&](Communicator& ranks) {
        const Rows rows(c.n, GmmInput::kBlockRows, ranks);
        GmmInput input;
        input.points = points.view().rows_between(rows.begin(), rows.end());
        if (c.has_weights)
          input.weights = std::span(weights).subspan(rows.begin(), rows.own_size());
        input.rows = &rows;
        const GmmResult shared = fit_gmm(input, options_of(c));
        SCOPED_TRACE(c.name + ", rank " + std::to_string(ranks.rank()) + " of " +
                     std::to_string(size));
        EXPECT_EQ(shared.model.means, alone.model.means);
        EXPECT_EQ(shared.model.covariances, alone.model.covariances);
        EXPECT_EQ(shared.model.weights, alone.model.weights);
        EXPECT_EQ(shared.summary.trace, alone.summary.trace);
        EXPECT_EQ(shared.summary.sizes, alone.summary.sizes);
        EXPECT_EQ(shared.summary.extra, alone.summary.extra);
        EXPECT_EQ(shared.labels, own_part(rows, alone.labels));
      });
    }
  }
}

TEST(GmmRanks, ARowThatIsNotFiniteIsNamedByItsPlaceInAll) {
  Matrix<float> points = points_of(9000);
  points(8999, 2) = std::numeric_limits<float>::quiet_NaN();
  try {
    run_as_ranks(3, [&](Communicator& ranks) {
      const Rows rows(9000, GmmInput::kBlockRows, ranks);
      GmmInput input;
      input.points = points.view().rows_between(rows.begin(), rows.end());
      input.rows = &rows;
      fit_gmm(input, GmmOptions());
    });
    FAIL() << "no exception";
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("NaN at row 8999, column 2"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Methods of counts over ranks give the bits of those on one: labels, models, traces.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/base/rows.h"
#include "milieu/classic/counts/bags.h"
#include "milieu/classic/counts/multinomials.h"
#include "milieu/classic/counts/topics.h"

namespace milieu {
namespace {

// Rows of three kinds; the last ones are empty.
Matrix<float> counts_of(int64_t n) {
  Random random(n);
  Matrix<float> counts(n, 12);
  for (int64_t i = 0; i + 2 < n; ++i)
    for (int c = 0; c < 30; ++c) {
      const auto word = static_cast<int64_t>(random.uniform_index(6));
      counts(i, (word + 4 * (i % 3)) % 12) += 1;
    }
  return counts;
}

std::vector<int> own_labels(const Rows& rows, const std::vector<int>& all) {
  return {all.begin() + rows.begin(), all.begin() + rows.end()};
}

Matrix<double> own_rows(const Rows& rows, const Matrix<double>& all) {
  return Matrix<double>(all.view().rows_between(rows.begin(), rows.end()));
}

// Fits `fit` alone and over ranks; `compare(rows, shared, alone)` looks at what is particular.
template <class Input, class Fit, class Compare>
void check_ranks(int64_t n, const Fit& fit, const Compare& compare) {
  const Matrix<float> counts = counts_of(n);
  Input whole;
  whole.counts = counts;
  const auto alone = fit(whole);
  for (const int size : {2, 3, 7}) {
    run_as_ranks(size, [&](Communicator& ranks) {
      SCOPED_TRACE("rank " + std::to_string(ranks.rank()) + " of " + std::to_string(size));
      const Rows rows(n, Input::kBlockRows, ranks);
      Input own;
      own.counts = counts.view().rows_between(rows.begin(), rows.end());
      own.rows = &rows;
      const auto shared = fit(own);
      EXPECT_EQ(shared.labels, own_labels(rows, alone.labels));
      EXPECT_EQ(shared.summary.trace, alone.summary.trace);
      EXPECT_EQ(shared.summary.sizes, alone.summary.sizes);
      EXPECT_EQ(shared.summary.warnings, alone.summary.warnings);
      EXPECT_EQ(shared.summary.n, n);
      compare(rows, shared, alone);
    });
  }
}

TEST(CountsRanks, MultinomialsGiveTheBitsOfOneRank) {
  MultinomialsOptions options;
  options.num_clusters = 3;
  options.num_restarts = 2;
  options.max_iterations = 8;
  options.num_threads = 1;
  for (const int64_t n : {50, 64 * 3 + 1, 64 * 300}) {
    check_ranks<MultinomialsInput>(
        n, [&](const MultinomialsInput& input) { return fit_multinomials(input, options); },
        [](const Rows& rows, const auto& shared, const auto& alone) {
          EXPECT_EQ(shared.model.words, alone.model.words);
          EXPECT_EQ(shared.model.weights, alone.model.weights);
          EXPECT_EQ(shared.probabilities, own_rows(rows, alone.probabilities));
        });
  }
}

TEST(CountsRanks, TopicsGiveTheBitsOfOneRank) {
  TopicsOptions options;
  options.num_clusters = 3;
  options.max_iterations = 4;
  options.num_threads = 1;
  for (const int64_t n : {20, 32 * 5 + 1, 32 * 40}) {
    check_ranks<TopicsInput>(
        n, [&](const TopicsInput& input) { return fit_topics(input, options); },
        [](const Rows& rows, const auto& shared, const auto& alone) {
          EXPECT_EQ(shared.model.words, alone.model.words);
          EXPECT_EQ(shared.proportions, own_rows(rows, alone.proportions));
        });
  }
}

TEST(CountsRanks, BagsGiveTheBitsOfOneRank) {
  for (const BagWeighting weighting : {BagWeighting::LogCounts, BagWeighting::TfIdf}) {
    BagsOptions options;
    options.num_clusters = 3;
    options.num_restarts = 1;
    options.weighting = weighting;
    options.num_threads = 1;
    for (const int64_t n : {100, 3 * 1024 + 1}) {
      check_ranks<BagsInput>(
          n, [&](const BagsInput& input) { return fit_bags(input, options); },
          [](const Rows&, const auto& shared, const auto& alone) {
            EXPECT_EQ(shared.model.idf, alone.model.idf);
            EXPECT_EQ(shared.model.centers, alone.model.centers);
          });
    }
  }
}

TEST(CountsRanks, GibbsSamplingIsRefused) {
  TopicsOptions options;
  options.inference = TopicsInference::Gibbs;
  options.num_clusters = 2;
  const Matrix<float> counts = counts_of(100);
  std::atomic<int> refused = 0;
  run_as_ranks(2, [&](Communicator& ranks) {
    const Rows rows(100, TopicsInput::kBlockRows, ranks);
    TopicsInput input;
    input.counts = counts.view().rows_between(rows.begin(), rows.end());
    input.rows = &rows;
    try {
      fit_topics(input, options);
    } catch (const InvalidArgument&) {
      ++refused;
    }
  });
  EXPECT_EQ(refused, 2);
}

// A share in one rank's rows says that all are shares; a count above 1 in another's, that none is.
TEST(CountsRanks, TheWarningAboutSharesLooksAtAllRows) {
  for (const float last : {0.5f, 2.0f}) {
    Matrix<float> counts(2048, 3);
    for (int64_t i = 0; i < 2048; ++i) counts(i, i % 3) = 1;
    counts(0, 0) = 0.25f;
    counts(2047, 0) = last;
    BagsOptions options;
    options.num_clusters = 2;
    options.num_restarts = 1;
    run_as_ranks(2, [&](Communicator& ranks) {
      const Rows rows(2048, BagsInput::kBlockRows, ranks);
      BagsInput input;
      input.counts = counts.view().rows_between(rows.begin(), rows.end());
      input.rows = &rows;
      EXPECT_EQ(fit_bags(input, options).summary.warnings.empty(), last > 1);
    });
  }
}

}  // namespace
}  // namespace milieu

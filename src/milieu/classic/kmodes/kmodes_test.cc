// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/kmodes/kmodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stop_token>
#include <string>

#include "milieu/base/error.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Rows of 0 and 1 from texts: {"0110", "1000"}.
Matrix<float> rows(const std::vector<std::string>& texts) {
  Matrix<float> points(static_cast<int64_t>(texts.size()), static_cast<int64_t>(texts[0].size()));
  for (size_t i = 0; i < texts.size(); ++i)
    for (size_t j = 0; j < texts[i].size(); ++j)
      points(static_cast<int64_t>(i), static_cast<int64_t>(j)) = texts[i][j] == '1' ? 1.0f : 0.0f;
  return points;
}

std::string text_of(const Matrix<float>& modes, int64_t c) {
  std::string text;
  for (const float value : modes.row_span(c)) text += value == 1 ? '1' : '0';
  return text;
}

KModesOptions options_for(int k) {
  KModesOptions options;
  options.num_clusters = k;
  return options;
}

LabelledPoints make_blocks(int64_t n, int64_t d, int k, double flip, uint64_t seed = 1) {
  BinaryBlobOptions options;
  options.n = n;
  options.d = d;
  options.num_clusters = k;
  options.flip_probability = flip;
  options.seed = seed;
  return make_binary_blobs(options);
}

TEST(KModes, SixVectorsByHand) {
  const Matrix<float> points = rows({"11100", "11000", "11110", "00011", "00111", "00001"});
  const Matrix<float> start = rows({"11000", "00001"});
  const KModesResult result = fit_kmodes({points, {}, start}, options_for(2));
  EXPECT_THAT(result.labels, ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_EQ(text_of(result.model.modes, 0), "11100");
  EXPECT_EQ(text_of(result.model.modes, 1), "00011");
  // Distances 0, 1, 1 to the first mode and 0, 1, 1 to the second.
  EXPECT_EQ(result.summary.objective, 4);
  EXPECT_THAT(result.summary.trace, ElementsAre(4, 4));
  EXPECT_EQ(result.summary.termination, Termination::Converged);
  EXPECT_THAT(result.summary.sizes, ElementsAre(3, 3));
}

TEST(KModes, HalfOfTheVotesIsAOne) {
  const Matrix<float> points = rows({"1100", "0101"});
  const KModesResult result = fit_kmodes({points}, options_for(1));
  EXPECT_EQ(text_of(result.model.modes, 0), "1101");
  EXPECT_EQ(result.summary.objective, 2);
}

TEST(KModes, WeightsCountAsRepeatedSamples) {
  const Matrix<float> points = rows({"1000", "0110", "0011"});
  const std::vector<double> weights = {1, 3, 1};
  const Matrix<float> repeated = rows({"1000", "0110", "0110", "0110", "0011"});
  const KModesResult weighted = fit_kmodes({points, weights}, options_for(1));
  const KModesResult plain = fit_kmodes({repeated}, options_for(1));
  EXPECT_EQ(weighted.model.modes, plain.model.modes);
  EXPECT_EQ(weighted.summary.objective, plain.summary.objective);
  EXPECT_EQ(text_of(weighted.model.modes, 0), "0110");
  EXPECT_EQ(weighted.summary.objective, 3 + 2);
}

TEST(KModes, ObjectiveNeverRisesAndIsTheSumOfDistances) {
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const LabelledPoints data = make_blocks(300, 70, 5, 0.3, seed);
    KModesOptions options = options_for(8);
    options.num_restarts = 2;
    options.seed = seed;
    const KModesResult result = fit_kmodes({data.points}, options);
    EXPECT_TRUE(std::is_sorted(result.summary.trace.rbegin(), result.summary.trace.rend()));
    double sum = 0;
    for (int64_t i = 0; i < 300; ++i)
      for (int64_t j = 0; j < 70; ++j)
        sum += std::abs(data.points(i, j) - result.model.modes(result.labels[i], j));
    EXPECT_EQ(result.summary.objective, sum);
    EXPECT_EQ(result.summary.trace.back(), sum);
    EXPECT_EQ(result.labels, predict(result.model, data.points));
  }
}

TEST(KModes, SeparateBlocksAreFound) {
  const LabelledPoints data = make_blocks(400, 100, 4, 0.05);
  const KModesResult result = fit_kmodes({data.points}, options_for(4));
  std::vector<int> label_from_part(4, -1);
  for (size_t i = 0; i < data.labels.size(); ++i) {
    int& label = label_from_part[data.labels[i]];
    if (label < 0) label = result.labels[i];
    EXPECT_EQ(label, result.labels[i]);
  }
  EXPECT_THAT(result.summary.sizes, Each(100));
}

TEST(KModes, PermutingTheSamplesPermutesTheLabels) {
  const LabelledPoints data = make_blocks(200, 40, 3, 0.25);
  const Matrix<float> start(data.points.view().rows_between(0, 3));
  Matrix<float> reversed(200, 40);
  for (int64_t i = 0; i < 200; ++i)
    std::ranges::copy(data.points.row_span(199 - i), reversed.row(i));
  const KModesResult straight = fit_kmodes({data.points, {}, start}, options_for(3));
  KModesResult back = fit_kmodes({reversed, {}, start}, options_for(3));
  std::ranges::reverse(back.labels);
  EXPECT_EQ(straight.labels, back.labels);
  EXPECT_EQ(straight.summary.trace, back.summary.trace);
}

TEST(KModes, ThreadsDoNotChangeABit) {
  const LabelledPoints data = make_blocks(5000, 50, 4, 0.3);
  std::vector<double> weights(5000);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.1 * static_cast<double>(i % 7);
  KModesOptions options = options_for(6);
  options.num_restarts = 2;
  options.num_threads = 1;
  const KModesResult one = fit_kmodes({data.points, weights}, options);
  for (const int threads : {2, 8}) {
    options.num_threads = threads;
    const KModesResult many = fit_kmodes({data.points, weights}, options);
    EXPECT_EQ(one.labels, many.labels);
    EXPECT_EQ(one.summary.trace, many.summary.trace);
    EXPECT_EQ(one.model.modes, many.model.modes);
  }
}

TEST(KModes, BothStartsAndMoreRestartsWork) {
  const LabelledPoints data = make_blocks(200, 64, 4, 0.3);
  for (const KModesInit init : {KModesInit::PlusPlus, KModesInit::Random}) {
    KModesOptions options = options_for(4);
    options.init = init;
    options.num_restarts = 1;
    const double single = fit_kmodes({data.points}, options).summary.objective;
    options.num_restarts = 8;
    const KModesResult several = fit_kmodes({data.points}, options);
    EXPECT_LE(several.summary.objective, single);
    EXPECT_EQ(several.summary.num_restarts, 8);
  }
}

TEST(KModes, IterationLimitAndToleranceStopTheRounds) {
  const LabelledPoints data = make_blocks(500, 60, 6, 0.4);
  KModesOptions options = options_for(6);
  options.num_restarts = 1;
  options.max_iterations = 1;
  const KModesResult limited = fit_kmodes({data.points}, options);
  EXPECT_EQ(limited.summary.termination, Termination::IterationLimit);
  EXPECT_EQ(limited.summary.iterations, 1);
  options.max_iterations = 300;
  const KModesResult full = fit_kmodes({data.points}, options);
  EXPECT_EQ(full.summary.termination, Termination::Converged);
  options.rel_tolerance = 0.5;  // no round takes away half of the objective
  EXPECT_EQ(fit_kmodes({data.points}, options).summary.iterations, 1);
  EXPECT_GT(full.summary.iterations, 1);
}

TEST(KModes, EmptyClusterTakesTheFarthestSample) {
  // All samples are nearest to the first mode; the second starts far away from everything.
  const Matrix<float> points = rows({"110000", "100000", "000000", "111100", "111100"});
  const Matrix<float> start = rows({"100000", "011111"});
  const KModesResult result = fit_kmodes({points, {}, start}, options_for(2));
  EXPECT_THAT(result.labels, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_EQ(text_of(result.model.modes, 1), "111100");
  EXPECT_EQ(result.summary.objective, 2);
  EXPECT_THAT(result.summary.warnings, IsEmpty());
}

TEST(KModes, FewerDistinctSamplesThanClustersIsAWarning) {
  const Matrix<float> points = rows({"1010", "1010", "1010", "0101"});
  const KModesResult result = fit_kmodes({points}, options_for(3));
  EXPECT_EQ(result.summary.objective, 0);
  EXPECT_EQ(result.summary.clusters, 2);
  EXPECT_THAT(result.summary.warnings, ElementsAre(HasSubstr("1 of 3 clusters is empty")));
  EXPECT_EQ(result.labels, predict(result.model, points));
}

TEST(KModes, AsManyClustersAsSamplesAndOneSample) {
  const Matrix<float> points = rows({"100", "010", "001"});
  const KModesResult result = fit_kmodes({points}, options_for(3));
  EXPECT_EQ(result.summary.objective, 0);
  EXPECT_THAT(result.summary.sizes, ElementsAre(1, 1, 1));
  const KModesResult single = fit_kmodes({rows({"101"})}, options_for(1));
  EXPECT_EQ(text_of(single.model.modes, 0), "101");
  EXPECT_THAT(single.labels, ElementsAre(0));
}

TEST(KModes, SamplesOfWeightZeroDoNotVote) {
  const Matrix<float> points = rows({"1100", "1100", "0011", "0011", "0011"});
  const std::vector<double> weights = {1, 1, 0, 0, 0};
  const KModesResult result = fit_kmodes({points, weights}, options_for(1));
  EXPECT_EQ(text_of(result.model.modes, 0), "1100");
  EXPECT_EQ(result.summary.objective, 0);
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              fit_kmodes({points, weights}, options_for(3));
            }),
            "num_clusters is 3, there are only 2 samples of positive weight: use at most 2");
}

TEST(KModes, BadInputIsRefusedByName) {
  Matrix<float> points = rows({"1100", "0011", "1010"});
  const auto fit = [&](KModesInput input, KModesOptions options) {
    return message_of<InvalidArgument>([&] { fit_kmodes(input, options); });
  };
  EXPECT_EQ(fit({points}, options_for(4)),
            "num_clusters is 4, there are only 3 samples: use at most 3");
  EXPECT_EQ(fit({points}, options_for(0)), "num_clusters is 0, must be at least 1");
  EXPECT_THAT(fit({}, options_for(1)), HasSubstr("points is 0 x 0"));
  const std::vector<double> few = {1, 1};
  EXPECT_EQ(fit({points, few}, options_for(1)),
            "weights has 2 entries, points has 3 rows: they must match");
  const std::vector<double> negative = {1, -1, 1};
  EXPECT_THAT(fit({points, negative}, options_for(1)), HasSubstr("weights[1] is -1"));
  EXPECT_EQ(fit({points, {}, rows({"110"})}, options_for(1)),
            "initial_modes is 1 x 3, must be 1 x 4");
  Matrix<float> modes = rows({"1100"});
  modes(0, 3) = 2;
  EXPECT_THAT(fit({points, {}, modes}, options_for(1)),
              HasSubstr("initial_modes(0, 3) is 2, must be 0 or 1"));
  points(1, 2) = 0.5f;
  points(2, 0) = -1;
  EXPECT_THAT(fit({points}, options_for(1)), HasSubstr("points(1, 2) is 0.5, must be 0 or 1"));
  points(1, 2) = std::nanf("");
  EXPECT_THAT(message_of<DataError>([&] { fit_kmodes({points}, options_for(1)); }),
              HasSubstr("points has NaN at row 1, column 2"));
}

TEST(KModes, PredictionChecksItsPoints) {
  const Matrix<float> points = rows({"1100", "0011"});
  const KModesModel model = fit_kmodes({points}, options_for(2)).model;
  EXPECT_EQ(message_of<InvalidArgument>([&] { predict(model, rows({"110"})); }),
            "points has 3 columns, the model 2 modes of 4 bits: they must match");
  Matrix<float> other = points;
  other(1, 1) = 3;
  EXPECT_THAT(message_of<InvalidArgument>([&] { predict(model, other); }),
              HasSubstr("points(1, 1) is 3, must be 0 or 1"));
}

class StopAfter : public Monitor {
 public:
  StopAfter(std::stop_source& source, int restart)
      : Monitor(source.get_token()), source_(source), restart_(restart) {}
  void on_iteration(const IterationReport& report) override {
    EXPECT_LE(report.change, 0);
    if (report.restart == restart_) source_.request_stop();
  }

 private:
  std::stop_source& source_;
  int restart_;
};

TEST(KModes, CancelledRunKeepsTheLastCompleteRound) {
  const LabelledPoints data = make_blocks(500, 60, 6, 0.4);
  for (const int restart : {0, 2}) {
    std::stop_source source;
    StopAfter monitor(source, restart);
    const KModesResult result = fit_kmodes({data.points}, options_for(6), monitor);
    EXPECT_EQ(result.summary.termination, Termination::Cancelled);
    EXPECT_EQ(result.summary.num_restarts, restart + 1);
    EXPECT_EQ(result.labels, predict(result.model, data.points));
    EXPECT_GE(result.summary.iterations, 1);
  }
}

TEST(KModes, DeadlineInThePastStillGivesAResult) {
  const LabelledPoints data = make_blocks(100, 20, 3, 0.2);
  Monitor monitor;
  monitor.set_time_limit(-1);
  const KModesResult result = fit_kmodes({data.points}, options_for(3), monitor);
  EXPECT_EQ(result.summary.termination, Termination::TimeLimit);
  EXPECT_EQ(result.summary.iterations, 0);
  EXPECT_EQ(result.labels, predict(result.model, data.points));
}

}  // namespace
}  // namespace milieu

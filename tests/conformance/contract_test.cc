// SPDX-License-Identifier: Apache-2.0
// What holds for every result: labels, summary, determinism, prediction, files.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "methods.h"
#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/testing/guarded_points.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/temp_dir.h"
#include "milieu/testing/thread_limit.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;

void expect_same_model(const ModelFile& a, const ModelFile& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.scalars, b.scalars);
  ASSERT_EQ(a.arrays.size(), b.arrays.size());
  for (size_t i = 0; i < a.arrays.size(); ++i) {
    EXPECT_EQ(a.arrays[i].first, b.arrays[i].first);
    EXPECT_EQ(a.arrays[i].second.shape, b.arrays[i].second.shape);
    EXPECT_TRUE(a.arrays[i].second.bytes == b.arrays[i].second.bytes) << a.arrays[i].first;
  }
}

void expect_same_bits(const ConformanceOutcome& a, const ConformanceOutcome& b) {
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_THAT(std::vector{a.summary.objective}, HasBitsOf(std::vector{b.summary.objective}));
  EXPECT_THAT(a.summary.trace, HasBitsOf(b.summary.trace));
  EXPECT_EQ(a.summary.iterations, b.summary.iterations);
  EXPECT_EQ(a.summary.restart, b.summary.restart);
  EXPECT_EQ(a.summary.warnings, b.summary.warnings);
  EXPECT_TRUE(a.summary.extra == b.summary.extra);
  expect_same_model(a.model, b.model);
}

TEST_P(Conformance, SeparatedClustersAreFound) {
  const LabelledPoints data = method().make_data(300, 4, 3, 1);
  const ConformanceOutcome outcome = fit(data.points);
  EXPECT_THAT(outcome.labels, IsSamePartitionAs(data.labels));
  EXPECT_EQ(outcome.summary.termination, Termination::Converged);
  EXPECT_EQ(outcome.summary.clusters, 3);
}

TEST_P(Conformance, SummaryDescribesTheResult) {
  const LabelledPoints data = make_overlapping(500, 3, 5, 2);
  const ConformanceOutcome outcome = fit(data.points, {.num_clusters = 5, .seed = 7});
  const RunSummary& summary = outcome.summary;
  ASSERT_EQ(outcome.labels.size(), 500u);
  const int num_labels = static_cast<int>(summary.sizes.size());
  EXPECT_THAT(outcome.labels, HasLabelsBelow(num_labels, method().may_leave_out));
  if (method().takes_num_clusters) {
    EXPECT_LE(num_labels, 5);
  }
  std::vector<int64_t> counted(summary.sizes.size(), 0);
  for (const int label : outcome.labels)
    if (label >= 0) ++counted[label];
  EXPECT_EQ(summary.sizes, counted);
  EXPECT_EQ(summary.clusters, num_labels - std::count(counted.begin(), counted.end(), 0));
  EXPECT_EQ(summary.method, outcome.model.kind);
  EXPECT_EQ(summary.version, version());
  EXPECT_EQ(summary.seed, 7u);
  EXPECT_EQ(summary.n, 500);
  EXPECT_EQ(summary.d, data.points.cols());
  EXPECT_TRUE(std::isfinite(summary.objective));
  EXPECT_GT(summary.seconds, 0);
  EXPECT_LE(static_cast<int>(summary.trace.size()), summary.iterations);
  EXPECT_GE(summary.restart, 0);
  EXPECT_LT(summary.restart, summary.num_restarts);
  EXPECT_FALSE(summary.message.empty());
}

TEST_P(Conformance, TraceMovesInOneDirection) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const LabelledPoints data = make_overlapping(600, 3, 6, seed);
    const RunSummary summary = fit(data.points, {.num_clusters = 6, .seed = seed}).summary;
    if (method().direction == TraceDirection::Falls) {
      EXPECT_THAT(summary.trace, NeverRises(1e-9));
    } else if (method().direction == TraceDirection::Rises) {
      EXPECT_THAT(summary.trace, NeverFalls(1e-9));
    }
    if (method().direction != TraceDirection::Free) {
      ASSERT_FALSE(summary.trace.empty());
      EXPECT_NEAR(summary.objective, summary.trace.back(), 1e-9 * std::abs(summary.objective));
    }
  }
}

TEST_P(Conformance, SameSeedGivesTheSameBits) {
  const LabelledPoints data = make_overlapping(400, 3, 4, 3);
  const ConformanceSettings settings{.num_clusters = 4, .seed = 11, .num_threads = 2};
  expect_same_bits(fit(data.points, settings), fit(data.points, settings));
}

TEST_P(Conformance, NumberOfThreadsChangesNoBit) {
  const ThreadLimit eight(8);
  const LabelledPoints data = make_overlapping(method().num_samples, 5, 6, 4);
  const ConformanceOutcome one = fit(data.points, {.num_clusters = 6, .num_threads = 1});
  for (const int threads : {2, 8}) {
    SCOPED_TRACE(threads);
    expect_same_bits(one, fit(data.points, {.num_clusters = 6, .num_threads = threads}));
  }
}

TEST_P(Conformance, RunsSideBySideDoNotDisturbEachOther) {
  const LabelledPoints data = make_overlapping(400, 3, 4, 5);
  const ConformanceSettings settings{.num_clusters = 4, .num_threads = 2};
  const ConformanceOutcome alone = fit(data.points, settings);
  ConformanceOutcome beside[2];
  {
    std::jthread first([&] { beside[0] = fit(data.points, settings); });
    std::jthread second([&] { beside[1] = fit(data.points, settings); });
  }
  for (const ConformanceOutcome& outcome : beside) expect_same_bits(alone, outcome);
}

// The samples lie in memory that may only be read, and end where a forbidden page begins.
TEST_P(Conformance, InputIsReadOnlyAndNotBeyondItsEnd) {
  const LabelledPoints data = make_overlapping(333, 7, 4, 6);
  const GuardedPoints guarded(data.points);
  const ConformanceOutcome plain = fit(data.points, {.num_clusters = 4});
  const ConformanceOutcome read_only = fit(guarded.view(), {.num_clusters = 4});
  expect_same_bits(plain, read_only);
  if (plain.predict) {
    EXPECT_EQ(plain.predict(guarded.view()), plain.labels);
  }
}

TEST_P(Conformance, RowsMayBePartOfAWiderMatrix) {
  const LabelledPoints data = make_overlapping(300, 3, 4, 7);
  const int64_t d = data.points.cols();
  Matrix<float> wide(300, d + 5);
  std::fill(wide.data(), wide.data() + wide.size(), std::nanf(""));
  for (int64_t i = 0; i < 300; ++i) std::copy_n(data.points.row(i), d, wide.row(i) + 2);
  const FloatView window(wide.data() + 2, 300, d, d + 5);
  const ConformanceOutcome plain = fit(data.points, {.num_clusters = 4});
  const ConformanceOutcome strided = fit(window, {.num_clusters = 4});
  expect_same_bits(plain, strided);
  if (plain.predict) {
    EXPECT_EQ(plain.predict(window), plain.labels);
  }
}

TEST_P(Conformance, LabelsEqualThePredictionForTheTrainingData) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const LabelledPoints data = make_overlapping(400, 3, 6, seed);
    const ConformanceOutcome outcome = fit(data.points, {.num_clusters = 6, .seed = seed});
    if (!outcome.predict) GTEST_SKIP() << "the method defines no prediction";
    EXPECT_EQ(outcome.predict(data.points), outcome.labels);
  }
}

TEST_P(Conformance, PredictionRefusesOtherWidthsAndNaN) {
  const LabelledPoints data = method().make_data(100, 3, 3, 1);
  const ConformanceOutcome outcome = fit(data.points);
  if (!outcome.predict) GTEST_SKIP() << "the method defines no prediction";
  const int64_t d = data.points.cols();
  EXPECT_THROW(outcome.predict(Matrix<float>(5, d + 1)), InvalidArgument);
  Matrix<float> broken(data.points.view().rows_between(0, 20));
  broken(17, 2) = std::nanf("");
  EXPECT_THAT(message_of([&] { outcome.predict(broken); }), HasSubstr("row 17, column 2"));
}

TEST_P(Conformance, SavedModelsComeBackBitByBit) {
  const LabelledPoints data = make_overlapping(300, 3, 4, 8);
  const ConformanceOutcome outcome = fit(data.points, {.num_clusters = 4});
  const TempDir dir;
  write_model_file(dir.file("model.safetensors"), outcome.model);
  ModelFile back = read_model_file(dir.file("model.safetensors"));
  ModelFile sorted = outcome.model;
  for (ModelFile* file : {&back, &sorted}) {  // a file may hold its entries in another order
    std::sort(file->arrays.begin(), file->arrays.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    std::sort(file->scalars.begin(), file->scalars.end());
  }
  expect_same_model(sorted, back);
  if (!outcome.predict_from_file) return;
  EXPECT_EQ(outcome.predict_from_file(dir.file("other.safetensors"), data.points), outcome.labels);
}

TEST_P(Conformance, OptionsOutOfRangeAreRefusedByName) {
  const LabelledPoints data = method().make_data(50, 3, 3, 1);
  for (const ConformanceMethod::Refusal& refusal : method().refusals) {
    SCOPED_TRACE(refusal.option + " = " + refusal.value);
    const std::string message = message_of([&] { refusal.run(data.points); });
    EXPECT_THAT(message, HasSubstr(refusal.option));
  }
}

// From a fixed start nothing depends on the order of the samples but the order of the labels.
TEST_P(Conformance, PermutedSamplesGetPermutedLabels) {
  if (!method().fit_from) GTEST_SKIP() << "the method takes no given start";
  const LabelledPoints data = method().make_data(300, 4, 3, 9);
  Matrix<float> start(3, data.points.cols());
  for (int64_t i = 299; i >= 0; --i)
    std::copy_n(data.points.row(i), start.cols(), start.row(data.labels[i]));
  std::vector<int64_t> order(300);
  std::iota(order.begin(), order.end(), 0);
  Random(1).shuffle(std::span<int64_t>(order));
  Matrix<float> permuted(300, data.points.cols());
  for (int64_t i = 0; i < 300; ++i)
    std::copy_n(data.points.row(order[i]), permuted.cols(), permuted.row(i));
  const ConformanceOutcome plain = method().fit_from(data.points, start, {});
  const ConformanceOutcome shuffled = method().fit_from(permuted, start, {});
  for (int64_t i = 0; i < 300; ++i) ASSERT_EQ(shuffled.labels[i], plain.labels[order[i]]) << i;
  EXPECT_NEAR(shuffled.summary.objective, plain.summary.objective,
              1e-6 * std::abs(plain.summary.objective));
}

}  // namespace
}  // namespace milieu

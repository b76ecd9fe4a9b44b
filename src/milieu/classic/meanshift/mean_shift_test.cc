// SPDX-License-Identifier: Apache-2.0
// Mean shift against hand cases, a naive twin that moves one seed at a time over all samples, and
// scikit-learn where it is installed.
#include "milieu/classic/meanshift/mean_shift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "milieu/base/error.h"
#include "milieu/classic/test_points.h"
#include "milieu/testing/synthetic.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Message;

double extra(const RunSummary& summary, const std::string& name) {
  for (const auto& [key, value] : summary.extra)
    if (key == name)
      return std::holds_alternative<double>(value) ? std::get<double>(value)
                                                   : static_cast<double>(std::get<int64_t>(value));
  ADD_FAILURE() << "no entry " << name;
  return NAN;
}

// Two groups 0 1 2 and 10 11 12. The outer samples move to the middle in one move. Densities in
// ninths of a sample: 22 at the ends, 25 in the middle.
TEST(MeanShift, HandCaseFlat) {
  const MeanShiftResult result = fit_mean_shift({line({0, 1, 2, 10, 11, 12})}, {.bandwidth = 3});
  EXPECT_THAT(result.labels, ElementsAre(0, 0, 0, 1, 1, 1));
  ASSERT_EQ(result.model.modes.rows(), 2);
  EXPECT_EQ(result.model.modes(0, 0), 1);
  EXPECT_EQ(result.model.modes(1, 0), 11);
  EXPECT_EQ(result.summary.iterations, 2);
  ASSERT_EQ(result.summary.trace.size(), 2u);
  EXPECT_NEAR(result.summary.trace[0], 69.0 / 27 / 6, 1e-15);
  EXPECT_NEAR(result.summary.objective, 25.0 / 9 / 6, 1e-15);
  EXPECT_EQ(result.summary.termination, Termination::Converged);
  EXPECT_THAT(result.summary.sizes, ElementsAre(3, 3));
  EXPECT_EQ(extra(result.summary, "seeds"), 6);
}

// Two samples at 0 and 1 with h = 1: the mode between them is at 1/2, where both weigh the same.
TEST(MeanShift, HandCaseGaussian) {
  const MeanShiftResult result = fit_mean_shift(
      {line({0, 1})}, {.bandwidth = 1, .kernel = MeanShiftKernel::Gaussian, .rel_tolerance = 1e-6});
  ASSERT_EQ(result.model.modes.rows(), 1);
  EXPECT_NEAR(result.model.modes(0, 0), 0.5, 1e-5);
  EXPECT_NEAR(result.summary.objective, std::exp(-0.125) - std::exp(-12.5), 1e-9);
}

// All samples, in double, one seed at a time; the rules of mean_shift.cc.
std::vector<double> naive_climb(FloatView points, int64_t seed, double h, bool is_flat,
                                double tolerance) {
  const int64_t d = points.cols();
  std::vector<double> y(points.row(seed), points.row(seed) + d);
  for (int t = 0; t < 1000; ++t) {
    std::vector<double> mean(d);
    double total = 0;
    for (int64_t i = 0; i < points.rows(); ++i) {
      double squared = 0;
      for (int64_t j = 0; j < d; ++j) squared += (points(i, j) - y[j]) * (points(i, j) - y[j]);
      if (squared > h * h * (is_flat ? 1 : 25)) continue;
      const double weight = is_flat ? 1 : std::exp(-squared / (2 * h * h));
      total += weight;
      for (int64_t j = 0; j < d; ++j) mean[j] += weight * points(i, j);
    }
    double moved = 0;
    for (int64_t j = 0; j < d; ++j) {
      mean[j] /= total;
      moved += (mean[j] - y[j]) * (mean[j] - y[j]);
    }
    if (std::sqrt(moved) <= tolerance) break;
    y = mean;
  }
  return y;
}

TEST(MeanShift, EverySeedsModeIsTheNaiveTwins) {
  const LabelledPoints blobs = make_blobs({.n = 120, .d = 2, .num_clusters = 3, .separation = 9});
  for (const bool is_flat : {true, false}) {
    MeanShiftOptions options;
    options.bandwidth = is_flat ? 3 : 1.5;
    options.kernel = is_flat ? MeanShiftKernel::Flat : MeanShiftKernel::Gaussian;
    options.rel_tolerance = 1e-6;
    const MeanShiftResult result = fit_mean_shift({blobs.points}, options);
    EXPECT_EQ(result.summary.termination, Termination::Converged);
    // Every mode of the twin lies within the bandwidth of one of ours, and every one of ours is a
    // mode of the twin.
    std::vector<bool> is_found(result.model.modes.rows());
    for (int64_t s = 0; s < 120; ++s) {
      const std::vector<double> y =
          naive_climb(blobs.points, s, options.bandwidth, is_flat, 1e-6 * options.bandwidth);
      double nearest = INFINITY;
      for (int64_t m = 0; m < result.model.modes.rows(); ++m) {
        double squared = 0;
        for (int j = 0; j < 2; ++j) squared += std::pow(result.model.modes(m, j) - y[j], 2);
        nearest = std::min(nearest, std::sqrt(squared));
        if (squared < 1e-6) is_found[m] = true;
      }
      EXPECT_LE(nearest, options.bandwidth);
    }
    EXPECT_THAT(is_found, Each(true));
  }
}

TEST(MeanShift, DensityNeverFalls) {
  for (const MeanShiftKernel kernel : {MeanShiftKernel::Flat, MeanShiftKernel::Gaussian})
    for (const int64_t d : {1, 3, 12}) {
      SCOPED_TRACE(Message() << "d = " << d);
      const MeanShiftResult result =
          fit_mean_shift({normal_points(150, d, 3 + d)},
                         {.bandwidth = 0.6 * std::sqrt(static_cast<double>(d)), .kernel = kernel});
      const std::vector<double>& trace = result.summary.trace;
      ASSERT_GT(trace.size(), 2u);
      // Positions are floats: a move may lose what their rounding costs.
      for (size_t t = 1; t < trace.size(); ++t) EXPECT_GE(trace[t], trace[t - 1] * (1 - 1e-6));
    }
}

TEST(MeanShift, FindsSeparatedBlobs) {
  for (const MeanShiftKernel kernel : {MeanShiftKernel::Flat, MeanShiftKernel::Gaussian})
    for (const MeanShiftSeeds seeds : {MeanShiftSeeds::All, MeanShiftSeeds::Bins})
      for (const int64_t d : {2, 10}) {
        const LabelledPoints blobs =
            make_blobs({.n = 300, .d = d, .num_clusters = 4, .separation = 30});
        const MeanShiftResult result =
            fit_mean_shift({blobs.points}, {.bandwidth = 6, .kernel = kernel, .seeds = seeds});
        EXPECT_EQ(result.summary.clusters, 4);
        EXPECT_TRUE(same_partition(result.labels, blobs.labels));
      }
}

TEST(MeanShift, LabelsAreWhatTheModelPredicts) {
  for (const bool cluster_all : {true, false}) {
    MeanShiftOptions options;
    options.bandwidth = 0.7;
    options.seeds = MeanShiftSeeds::Bins;
    options.min_bin_size = 3;
    options.cluster_all = cluster_all;
    const Matrix<float> points = normal_points(400, 2, 5);
    const MeanShiftResult result = fit_mean_shift({points}, options);
    EXPECT_EQ(predict(result.model, points), result.labels);
    const auto num_orphans = std::count(result.labels.begin(), result.labels.end(), -1);
    EXPECT_EQ(num_orphans > 0, !cluster_all);
    EXPECT_EQ(extra(result.summary, "orphans"), static_cast<double>(num_orphans));
    for (const int64_t size : result.summary.sizes) EXPECT_GT(size, 0);
  }
}

TEST(MeanShift, OrphansAreFartherThanTheBandwidth) {
  MeanShiftOptions options;
  options.bandwidth = 2;
  options.seeds = MeanShiftSeeds::Bins;
  options.min_bin_size = 2;
  options.cluster_all = false;
  const Matrix<float> points = line({0.25f, 0.5f, 0.75f, 2.5f, 30});
  EXPECT_THAT(fit_mean_shift({points}, options).labels, ElementsAre(0, 0, 0, 0, -1));
  options.cluster_all = true;
  EXPECT_THAT(fit_mean_shift({points}, options).labels, ElementsAre(0, 0, 0, 0, 0));
}

TEST(MeanShift, PredictTakesTheNearestModeAndTheFirstOfTies) {
  MeanShiftModel model;
  model.modes = line({4, 0});
  model.bandwidth = 1;
  EXPECT_THAT(predict(model, line({2, 1.5f, 100})), ElementsAre(0, 1, 0));
  model.cluster_all = 0;
  EXPECT_THAT(predict(model, line({2, 0.5f, 1, 5.5f})), ElementsAre(-1, 1, 1, -1));
  EXPECT_THROW(predict(model, normal_points(3, 2, 1)), InvalidArgument);
}

// The densest seed wins: the group of three at 10 comes before the group of two at 0.
TEST(MeanShift, ModesAreInOrderOfDensity) {
  const MeanShiftResult result =
      fit_mean_shift({line({0, 0.5f, 9.5f, 10, 10.5f})}, {.bandwidth = 2});
  EXPECT_EQ(result.model.modes(0, 0), 10);
  EXPECT_EQ(result.model.modes(1, 0), 0.25f);
  EXPECT_THAT(result.labels, ElementsAre(1, 1, 0, 0, 0));
}

TEST(MeanShift, BinsStartFromFewerSeeds) {
  const Matrix<float> points = normal_points(500, 2, 8);
  const MeanShiftResult all = fit_mean_shift({points}, {.bandwidth = 1.5});
  const MeanShiftResult bins =
      fit_mean_shift({points}, {.bandwidth = 1.5, .seeds = MeanShiftSeeds::Bins});
  EXPECT_EQ(extra(all.summary, "seeds"), 500);
  EXPECT_LT(extra(bins.summary, "seeds"), 60);
}

// 0 1 2 3: the second of two neighbours (itself the first) is 1 away for all.
TEST(MeanShift, EstimatedBandwidthByHand) {
  EXPECT_EQ(estimate_bandwidth(line({0, 1, 2, 3}), {.quantile = 0.5}), 1);
  EXPECT_EQ(estimate_bandwidth(line({0, 1, 2, 3}), {.quantile = 1}), (3 + 2 + 2 + 3) / 4.0);
  EXPECT_EQ(estimate_bandwidth(line({0, 1, 2, 3}), {.quantile = 0}), 1);
}

TEST(MeanShift, EstimateOfASubSampleDependsOnlyOnTheSeed) {
  const Matrix<float> points = normal_points(3000, 2, 9);
  MeanShiftOptions options;
  options.bandwidth_samples = 300;
  const double estimate = estimate_bandwidth(points, options);
  EXPECT_EQ(estimate_bandwidth(points, options), estimate);
  options.seed = 2;
  EXPECT_NE(estimate_bandwidth(points, options), estimate);
  options.bandwidth_samples = 3000;
  EXPECT_NEAR(estimate_bandwidth(points, options), estimate, 0.1 * estimate);
}

// The output of a Python script that gets the points, or nothing when it fails.
std::vector<double> run_python(FloatView points, const char* script) {
  std::ostringstream csv;
  csv.precision(9);
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t j = 0; j < points.cols(); ++j)
      csv << points(i, j) << (j + 1 < points.cols() ? ',' : '\n');
  const TempDir folder;
  const std::string command = "/usr/bin/python3 " + folder.write("script.py", script) + " " +
                              folder.write("points.csv", csv.str()) + " 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  std::vector<double> numbers;
  double number = 0;
  while (pipe != nullptr && std::fscanf(pipe, "%lf", &number) == 1) numbers.push_back(number);
  if (pipe != nullptr) pclose(pipe);
  return numbers;
}

TEST(MeanShift, AgreesWithScikitLearn) {
  const LabelledPoints blobs = make_blobs({.n = 250, .d = 3, .num_clusters = 5, .separation = 12});
  const std::vector<double> expected =
      run_python(blobs.points,
                 "import sys, numpy\n"
                 "from sklearn.cluster import MeanShift, estimate_bandwidth\n"
                 "x = numpy.loadtxt(sys.argv[1], delimiter=',')\n"
                 "h = estimate_bandwidth(x, quantile=0.15)\n"
                 "print(repr(float(h)))\n"
                 "for label in MeanShift(bandwidth=h).fit(x).labels_: print(label)\n");
  if (expected.empty()) GTEST_SKIP() << "scikit-learn is not installed for /usr/bin/python3";
  ASSERT_EQ(expected.size(), 251u);
  const MeanShiftResult result = fit_mean_shift({blobs.points}, {.quantile = 0.15});
  EXPECT_NEAR(result.model.bandwidth, expected[0], 1e-9 * expected[0]);
  EXPECT_TRUE(
      same_partition(result.labels, std::vector<int>(expected.begin() + 1, expected.end())));
}

TEST(MeanShift, EqualSamplesAreOneClusterAndAWarning) {
  Matrix<float> points(30, 2);
  std::fill_n(points.data(), points.size(), 3.0f);
  const MeanShiftResult result = fit_mean_shift({points}, {});
  EXPECT_THAT(result.labels, Each(0));
  EXPECT_EQ(result.model.modes(0, 1), 3);
  ASSERT_EQ(result.summary.warnings.size(), 1u);
  EXPECT_THAT(result.summary.warnings[0], HasSubstr("estimated bandwidth is 0"));
  EXPECT_EQ(extra(result.summary, "seeds"), 1);
}

TEST(MeanShift, FewValuesOftenRepeatedAreOneClusterEach) {
  std::vector<float> values;
  for (int i = 0; i < 60; ++i) values.push_back(static_cast<float>(i % 2));
  const MeanShiftResult result = fit_mean_shift({line(values)}, {});
  EXPECT_EQ(result.summary.clusters, 2);
  EXPECT_EQ(result.summary.warnings.size(), 1u);
}

TEST(MeanShift, OneSample) {
  const MeanShiftResult given = fit_mean_shift({line({4})}, {.bandwidth = 1});
  EXPECT_THAT(given.labels, ElementsAre(0));
  EXPECT_THAT(given.summary.warnings, IsEmpty());
  EXPECT_EQ(given.summary.objective, 1);
  const MeanShiftResult estimated = fit_mean_shift({line({4})}, {});
  EXPECT_THAT(estimated.labels, ElementsAre(0));
}

TEST(MeanShift, AnyNumberOfThreadsGivesTheSameBits) {
  for (const int64_t d : {2, 12}) {
    const Matrix<float> points = normal_points(600, d, 11);
    MeanShiftOptions options;
    options.kernel = MeanShiftKernel::Gaussian;
    options.num_threads = 1;
    const MeanShiftResult one = fit_mean_shift({points}, options);
    for (const int num_threads : {2, 8}) {
      options.num_threads = num_threads;
      const MeanShiftResult many = fit_mean_shift({points}, options);
      EXPECT_EQ(many.labels, one.labels);
      EXPECT_EQ(many.summary.trace, one.summary.trace);
      EXPECT_TRUE(many.model.modes == one.model.modes);
    }
  }
}

TEST(MeanShift, IterationLimitIsReported) {
  const MeanShiftResult result =
      fit_mean_shift({normal_points(200, 2, 12)}, {.bandwidth = 0.5, .max_iterations = 2});
  EXPECT_EQ(result.summary.termination, Termination::IterationLimit);
  EXPECT_EQ(result.summary.iterations, 2);
  EXPECT_THAT(result.summary.message, HasSubstr("still moving"));
}

// Requests a stop after a given number of iterations.
class StopAfter : public Monitor {
 public:
  StopAfter(std::stop_source source, int iterations)
      : Monitor(source.get_token()), source_(source), iterations_(iterations) {
    if (iterations == 0) source_.request_stop();
  }
  void on_iteration(const IterationReport& report) override {
    if (report.iteration >= iterations_) source_.request_stop();
  }

 private:
  std::stop_source source_;
  int iterations_;
};

TEST(MeanShift, StoppedRunIsValid) {
  const Matrix<float> points = normal_points(300, 2, 13);
  for (const int iterations : {0, 1, 3}) {
    StopAfter monitor(std::stop_source(), iterations);
    const MeanShiftResult result = fit_mean_shift({points}, {.bandwidth = 0.5}, monitor);
    EXPECT_EQ(result.summary.termination, Termination::Cancelled);
    EXPECT_EQ(result.summary.iterations, iterations);
    EXPECT_GE(result.model.modes.rows(), 1);
    EXPECT_EQ(predict(result.model, points), result.labels);
    EXPECT_EQ(result.summary.trace.size(), static_cast<size_t>(iterations));
  }
}

void expect_refused(FloatView points, const MeanShiftOptions& options, const char* message) {
  try {
    fit_mean_shift({points}, options);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(MeanShift, WrongInputIsRefused) {
  Matrix<float> points = normal_points(5, 2, 15);
  expect_refused(points, {.bandwidth = -1}, "bandwidth is -1, must be at least 0");
  expect_refused(points, {.bandwidth = INFINITY}, "bandwidth is inf");
  expect_refused(points, {.quantile = 1.5}, "quantile is 1.5, must be between 0 and 1");
  expect_refused(points, {.bandwidth = 0.1, .seeds = MeanShiftSeeds::Bins, .min_bin_size = 3},
                 "min_bin_size is 3, the fullest bin has 1 sample");
  expect_refused(FloatView(nullptr, 0, 2), {}, "points is 0 x 2");
  points(4, 1) = NAN;
  expect_refused(points, {}, "points has NaN at row 4, column 1");
}

}  // namespace
}  // namespace milieu

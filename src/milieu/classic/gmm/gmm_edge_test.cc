// SPDX-License-Identifier: Apache-2.0
// The Gaussian mixture at the edges: degenerate data, stopped runs, bad input, broken models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <stop_token>
#include <string>
#include <variant>

#include "milieu/base/error.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr GmmCovariance kAllKinds[] = {GmmCovariance::Spherical, GmmCovariance::Diagonal,
                                       GmmCovariance::Full, GmmCovariance::Tied};

GmmOptions options_for(int k, GmmCovariance covariance = GmmCovariance::Diagonal) {
  GmmOptions options;
  options.num_clusters = k;
  options.covariance = covariance;
  options.init = GmmInit::Random;
  return options;
}

Matrix<float> make_points(int64_t n = 200, int64_t d = 3, int k = 3) {
  BlobOptions options;
  options.n = n;
  options.d = d;
  options.num_clusters = k;
  options.separation = 3;
  return make_blobs(options).points;
}

// Labels in range and equal to the prediction, everything finite.
void expect_valid(const GmmResult& result, FloatView points) {
  EXPECT_EQ(result.labels, predict(result.model, points));
  EXPECT_TRUE(std::isfinite(result.summary.objective));
  for (int64_t i = 0; i < result.model.covariances.size(); ++i)
    EXPECT_TRUE(std::isfinite(result.model.covariances.data()[i]));
}

TEST(GmmEdge, ConstantFeatureDoesNotChangeTheClustering) {
  const Matrix<float> points = make_points();
  Matrix<float> wider(points.rows(), 4);
  for (int64_t i = 0; i < points.rows(); ++i) {
    std::ranges::copy(points.row_span(i), wider.row(i));
    wider(i, 3) = 7.25f;
  }
  const FloatView narrow_means = points.view().rows_between(0, 3);
  const FloatView wide_means = wider.view().rows_between(0, 3);
  GmmOptions options = options_for(3);
  options.rel_tolerance = 0;  // the constant feature shifts the log-likelihood and so the stop
  options.max_iterations = 25;
  for (const GmmCovariance kind : {GmmCovariance::Diagonal, GmmCovariance::Full}) {
    options.covariance = kind;
    const GmmResult narrow = fit_gmm({points, {}, narrow_means}, options);
    const GmmResult wide = fit_gmm({wider, {}, wide_means}, options);
    EXPECT_EQ(narrow.labels, wide.labels);
    EXPECT_EQ(wide.model.means(0, 3), 7.25);
    EXPECT_THAT(wide.summary.warnings, IsEmpty());
  }
}

TEST(GmmEdge, OneSample) {
  Matrix<float> point(1, 2);
  point(0, 0) = 3;
  point(0, 1) = -1;
  for (const GmmCovariance kind : kAllKinds) {
    const GmmResult result = fit_gmm({point}, options_for(1, kind));
    expect_valid(result, point);
    EXPECT_EQ(result.model.means(0, 0), 3);
    EXPECT_EQ(result.model.means(0, 1), -1);
    // No variance at all: the floor is the regularization itself.
    EXPECT_NEAR(result.model.covariances(0, 0), 1e-6, 1e-18);
    EXPECT_NEAR(result.summary.objective, -std::log(2 * 3.14159265358979324 * 1e-6), 1e-9);
  }
}

TEST(GmmEdge, AllSamplesEqualLeaveOneComponent) {
  Matrix<float> points(10, 2);
  for (int64_t i = 0; i < 10; ++i) points(i, 0) = 4;
  for (const GmmCovariance kind : kAllKinds) {
    const GmmResult result = fit_gmm({points}, options_for(3, kind));
    expect_valid(result, points);
    EXPECT_THAT(result.labels, Each(0));
    EXPECT_THAT(result.model.weights, ElementsAre(1, 0, 0));
    EXPECT_THAT(result.summary.sizes, ElementsAre(10, 0, 0));
    EXPECT_EQ(result.summary.clusters, 1);
    EXPECT_THAT(result.summary.warnings, ElementsAre(HasSubstr("2 of 3 components are empty")));
    EXPECT_THAT(predict_probabilities(result.model, points).row_span(3), ElementsAre(1, 0, 0));
  }
}

TEST(GmmEdge, AsManyComponentsAsSamples) {
  Matrix<float> points(4, 1);
  for (int64_t i = 0; i < 4; ++i) points(i, 0) = static_cast<float>(10 * i);
  for (const GmmCovariance kind : kAllKinds) {
    const GmmResult result = fit_gmm({points}, options_for(4, kind));
    expect_valid(result, points);
    EXPECT_THAT(result.summary.sizes, Each(1));
    EXPECT_THAT(result.model.weights, Each(0.25));
  }
}

TEST(GmmEdge, MoreFeaturesThanSamples) {
  const Matrix<float> points = make_points(8, 20, 2);
  for (const GmmCovariance kind : kAllKinds) {
    const GmmResult result = fit_gmm({points}, options_for(2, kind));
    expect_valid(result, points);
  }
}

TEST(GmmEdge, SamplesOfWeightZeroDoNotCount) {
  Matrix<float> points = make_points(100, 2, 2);
  std::vector<double> weights(100, 1.0);
  for (int64_t i = 90; i < 100; ++i) {
    weights[i] = 0;
    points(i, 0) = 1e6f;
  }
  const FloatView means = points.view().rows_between(0, 2);
  const GmmResult with = fit_gmm({points, weights, means}, options_for(2));
  const GmmResult without = fit_gmm({points.view().rows_between(0, 90), {}, means}, options_for(2));
  EXPECT_NEAR(with.summary.objective, without.summary.objective, 1e-9);
  EXPECT_NEAR(with.model.means(0, 0), without.model.means(0, 0), 1e-12);
}

TEST(GmmEdge, RowsMayBeApartInMemory) {
  const Matrix<float> wide = make_points(300, 7, 3);
  const FloatView window(wide.data() + 2, 300, 3, 7);
  const Matrix<float> copy(window);
  EXPECT_EQ(fit_gmm({window}, options_for(3)).labels, fit_gmm({copy}, options_for(3)).labels);
}

class StopAfter : public Monitor {
 public:
  StopAfter(std::stop_source& source, int restart, int iteration)
      : Monitor(source.get_token()), source_(source), restart_(restart), iteration_(iteration) {}
  void on_iteration(const IterationReport& report) override {
    EXPECT_EQ(report.num_restarts, 3);
    EXPECT_EQ(report.max_iterations, 50);
    if (report.restart == restart_ && report.iteration == iteration_) source_.request_stop();
  }

 private:
  std::stop_source& source_;
  int restart_;
  int iteration_;
};

TEST(GmmEdge, CancelledRunKeepsTheLastCompleteRound) {
  const Matrix<float> points = make_points();
  GmmOptions options = options_for(3);
  options.num_restarts = 3;
  options.max_iterations = 50;
  options.rel_tolerance = 0;
  std::stop_source source;
  StopAfter monitor(source, 0, 4);
  const GmmResult result = fit_gmm({points}, options, monitor);
  EXPECT_EQ(result.summary.termination, Termination::Cancelled);
  EXPECT_EQ(result.summary.iterations, 4);
  EXPECT_EQ(result.summary.num_restarts, 1);
  expect_valid(result, points);
  options.num_restarts = 1;
  options.max_iterations = 4;
  EXPECT_EQ(fit_gmm({points}, options).summary.objective, result.summary.objective);
}

TEST(GmmEdge, CancelInALaterRestartKeepsTheBest) {
  const Matrix<float> points = make_points();
  GmmOptions options = options_for(3);
  options.num_restarts = 3;
  options.max_iterations = 50;
  options.rel_tolerance = 0;
  std::stop_source source;
  StopAfter monitor(source, 2, 1);
  const GmmResult result = fit_gmm({points}, options, monitor);
  EXPECT_EQ(result.summary.termination, Termination::Cancelled);
  EXPECT_EQ(result.summary.num_restarts, 3);
  expect_valid(result, points);
  options.num_restarts = 2;
  EXPECT_GE(result.summary.objective, fit_gmm({points}, options).summary.objective);
}

TEST(GmmEdge, GivenStartIsReportedAsTheOnlyOne) {
  class Listener : public Monitor {
   public:
    void on_iteration(const IterationReport& report) override {
      EXPECT_EQ(report.restart, 0);
      EXPECT_EQ(report.num_restarts, 1);
      EXPECT_EQ(report.iteration, ++num_reports);
    }
    int num_reports = 0;
  };
  const Matrix<float> points = make_points();
  GmmOptions options = options_for(3);
  options.num_restarts = 5;
  Listener listener;
  const GmmResult result =
      fit_gmm({points, {}, points.view().rows_between(0, 3)}, options, listener);
  EXPECT_EQ(result.summary.num_restarts, 1);
  EXPECT_EQ(result.summary.iterations, listener.num_reports);
}

TEST(GmmEdge, DeadlineInThePastStillGivesAResult) {
  const Matrix<float> points = make_points();
  for (const GmmCovariance kind : kAllKinds) {
    Monitor monitor;
    monitor.set_time_limit(-1);
    const GmmResult result = fit_gmm({points}, options_for(3, kind), monitor);
    EXPECT_EQ(result.summary.termination, Termination::TimeLimit);
    EXPECT_EQ(result.summary.iterations, 0);
    EXPECT_THAT(result.summary.trace, IsEmpty());
    expect_valid(result, points);
  }
}

TEST(GmmEdge, BadInputIsRefusedByName) {
  Matrix<float> points = make_points(5, 2, 1);
  const auto fit = [&](GmmInput input, GmmOptions options) {
    return message_of<InvalidArgument>([&] { fit_gmm(input, options); });
  };
  EXPECT_EQ(fit({points}, options_for(6)),
            "num_clusters is 6, there are only 5 samples: use at most 5");
  EXPECT_EQ(fit({points}, options_for(0)), "num_clusters is 0, must be at least 1");
  EXPECT_THAT(fit({}, options_for(1)), HasSubstr("points is 0 x 0"));
  const std::vector<double> few(4, 1.0);
  EXPECT_EQ(fit({points, few}, options_for(1)),
            "weights has 4 entries, points has 5 rows: they must match");
  std::vector<double> weights = {1, 0, -2, 0, 0};
  EXPECT_EQ(fit({points, weights}, options_for(1)),
            "weights[2] is -2, must be finite and at least 0");
  weights[2] = std::numeric_limits<double>::infinity();
  EXPECT_THAT(fit({points, weights}, options_for(1)), HasSubstr("weights[2] is inf"));
  weights[2] = 1;
  EXPECT_EQ(fit({points, weights}, options_for(3)),
            "num_clusters is 3, there are only 2 samples of positive weight: use at most 2");
  GmmOptions options = options_for(1);
  options.regularization = 0;
  EXPECT_EQ(fit({points}, options), "regularization is 0, must be between 1e-12 and 1");
  points(3, 1) = std::nanf("");
  EXPECT_THAT(message_of<DataError>([&] { fit_gmm({points}, options_for(1)); }),
              HasSubstr("points has NaN at row 3, column 1"));
}

TEST(GmmEdge, BadStartIsRefusedByName) {
  const Matrix<float> points = make_points(20, 2, 2);
  const GmmModel model = fit_gmm({points}, options_for(2)).model;
  const auto fit = [&](GmmInput input, GmmOptions options) {
    return message_of<InvalidArgument>([&] { fit_gmm(input, options); });
  };
  const FloatView means = points.view().rows_between(0, 3);
  EXPECT_EQ(fit({points, {}, means}, options_for(2)), "initial_means is 3 x 2, must be 2 x 2");
  EXPECT_EQ(fit({points, {}, means, &model}, options_for(2)),
            "initial_means and initial_model are both given: give at most one");
  EXPECT_EQ(fit({points, {}, {}, &model}, options_for(2, GmmCovariance::Full)),
            "initial_model has covariance diagonal, the options have full: they must match");
  EXPECT_EQ(fit({points, {}, {}, &model}, options_for(3)),
            "initial_model has 2 means of 2 features, must have 3 of 2");
}

TEST(GmmEdge, BrokenModelIsRefusedByName) {
  const Matrix<float> points = make_points(30, 2, 2);
  const GmmModel good = fit_gmm({points}, options_for(2)).model;
  const GmmModel full = fit_gmm({points}, options_for(2, GmmCovariance::Full)).model;
  const auto use = [&](const GmmModel& model) {
    return message_of<DataError>([&] { predict(model, points); });
  };
  GmmModel model;
  EXPECT_THAT(use(model), HasSubstr("gmm model: means is 0 x 0"));
  model = good;
  model.weights.push_back(0);
  EXPECT_EQ(use(model), "gmm model: weights has 3 entries, means 2 rows: they must match");
  model = good;
  model.covariance = GmmCovariance::Full;
  EXPECT_THAT(use(model), HasSubstr("covariances is 2 x 2, must be 2 x 4"));
  model = good;
  model.weights[1] = -0.5;
  EXPECT_THAT(use(model), HasSubstr("weight of component 1 is -0.5"));
  model.weights = {0, 0};
  EXPECT_THAT(use(model), HasSubstr("all weights are 0"));
  model = good;
  model.means(1, 0) = std::nan("");
  EXPECT_THAT(use(model), HasSubstr("a mean of component 1 is nan"));
  model = good;
  model.covariances(0, 1) = 0;
  EXPECT_THAT(use(model), HasSubstr("covariance 0 is not positive definite"));
  model = full;
  model.covariances(1, 0) = -1;
  EXPECT_THAT(use(model), HasSubstr("covariance 1 is not positive definite"));
  EXPECT_EQ(message_of<InvalidArgument>([&] { predict(good, make_points(5, 3, 1)); }),
            "points has 3 columns, the model 2 features: they must match");
}

// A visitor like those of store/: what is visited is all that a model needs to predict.
struct Archive {
  using Value = std::variant<std::string, std::vector<double>, Matrix<double>>;
  std::map<std::string, Value>& values;
  bool is_writing;

  template <class T>
  void operator()(const char* name, T& value) {
    if (is_writing) {
      values[name] = value;
    } else {
      value = std::get<T>(values.at(name));
    }
  }
};

TEST(GmmEdge, ModelSurvivesItsArrays) {
  const Matrix<float> points = make_points();
  for (const GmmCovariance kind : kAllKinds) {
    GmmModel model = fit_gmm({points}, options_for(3, kind)).model;
    std::map<std::string, Archive::Value> values;
    visit_arrays(model, Archive{values, true});
    GmmModel copy;
    visit_arrays(copy, Archive{values, false});
    EXPECT_EQ(predict_probabilities(model, points), predict_probabilities(copy, points));
    values["covariance"] = std::string("round");
    EXPECT_THAT(message_of<DataError>([&] {
                  visit_arrays(copy, Archive{values, false});
                }),
                HasSubstr("covariance is 'round', must be spherical, diagonal, full or tied"));
  }
}

}  // namespace
}  // namespace milieu

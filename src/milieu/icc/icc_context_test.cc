// SPDX-License-Identifier: Apache-2.0
// One set split by one context set: the same as two classes of which only the first is split.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/icc/icc.h"
#include "milieu/icc/icc_examples.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Figure 7 of the paper: 600 samples of the object, then 400 of the context.
internal::IccExample figure7() {
  Lcg lcg(1);
  return internal::make_icc_figure7(lcg, 1000);
}

struct TwoSets {
  Matrix<float> object, context;
};

TwoSets split_figure7() {
  const internal::IccExample data = figure7();
  return {Matrix<float>(data.points.view().rows_between(0, 600)),
          Matrix<float>(data.points.view().rows_between(600, 1000))};
}

IccResult fit_with_context(const TwoSets& sets, const IccOptions& options) {
  return fit_icc({.points = sets.object, .classes = {}, .context = sets.context}, options);
}

template <class T>
T extra(const RunSummary& summary, const std::string& name) {
  for (const auto& [key, value] : summary.extra)
    if (key == name) return std::get<T>(value);
  ADD_FAILURE() << name << " is not in the summary";
  return {};
}

void expect_the_first_of_two_classes(IccOptions options) {
  const internal::IccExample data = figure7();
  options.bandwidth = options.climb == IccClimb::Free ? "0.08" : "8c";
  const IccResult both = fit_icc({data.points, data.classes, {}, {}}, options);
  const IccResult one = fit_with_context(split_figure7(), options);
  EXPECT_THAT(one.model.subclasses, ElementsAre(both.model.subclasses[0]));
  EXPECT_EQ(one.labels, std::vector<int>(both.labels.begin(), both.labels.begin() + 600));
  EXPECT_EQ(one.summary.n, 600);
  EXPECT_EQ(one.summary.clusters, both.model.subclasses[0]);
  if (options.climb == IccClimb::Free) return;
  EXPECT_EQ(one.model.maps.rows(), 1);
  EXPECT_TRUE(std::ranges::equal(one.model.maps.row_span(0), both.model.maps.row_span(0)));
}

TEST(IccContext, EqualsTheFirstOfTwoClasses_issue30) {
  for (const IccWeight weight : {IccWeight::Count, IccWeight::Density})
    for (const IccClimb climb : {IccClimb::Basin, IccClimb::Gradient, IccClimb::Free})
      for (const IccProjection projection : {IccProjection::Pca, IccProjection::None}) {
        IccOptions options;
        options.weight = weight;
        options.climb = climb;
        options.projection = projection;
        SCOPED_TRACE(static_cast<int>(climb) * 10 + static_cast<int>(projection));
        expect_the_first_of_two_classes(options);
      }
}

// The golden map of nine by nine cells: the context between two groups keeps them apart.
TEST(IccContext, GoldenNineByNine_issue30) {
  const auto rows = [](const std::vector<std::array<float, 3>>& cells) {
    std::vector<std::array<float, 2>> all;
    for (const auto& [x, y, count] : cells)
      all.insert(all.end(), static_cast<size_t>(count), {x, y});
    Matrix<float> points(static_cast<int64_t>(all.size()), 2);
    for (size_t i = 0; i < all.size(); ++i)
      std::copy_n(all[i].data(), 2, points.row(static_cast<int64_t>(i)));
    return points;
  };
  // Two corners fix the frame of 9 x 9 cells; they are of the context, far from both groups.
  const TwoSets sets{rows({{1, 4, 3}, {2, 4, 2}, {6, 4, 2}, {7, 5, 3}}),
                     rows({{4, 4, 4}, {4, 5, 2}, {0, 0, 1}, {8, 8, 1}})};
  IccOptions options;
  options.grid = "9";
  options.bandwidth = "1c";
  options.window = 6;
  options.min_size = 1;
  options.projection = IccProjection::None;
  const IccResult result = fit_with_context(sets, options);
  EXPECT_THAT(result.labels, ElementsAre(0, 0, 0, 0, 0, 1, 1, 1, 1, 1));
  // By definition: counts of the object minus counts of the context under the window.
  double own = 0;
  const std::vector<double> taps = gaussian_taps(1, 3);
  const auto add = [&](const Matrix<float>& points, double weight) {
    for (int64_t i = 0; i < points.rows(); ++i) {
      const int dx = static_cast<int>(points(i, 0)) - 4, dy = static_cast<int>(points(i, 1)) - 4;
      if (std::max(std::abs(dx), std::abs(dy)) <= 3) own += weight * taps[dx + 3] * taps[dy + 3];
    }
  };
  add(sets.object, 1);
  add(sets.context, -1);
  EXPECT_NEAR(result.model.maps(0, 4 * 9 + 4), own, 1e-6);
}

TEST(IccContext, NewSamplesAreOfTheSet_issue30) {
  const TwoSets sets = split_figure7();
  for (const IccClimb climb : {IccClimb::Basin, IccClimb::Free}) {
    IccOptions options;
    options.climb = climb;
    options.bandwidth = "0.08";
    const IccResult result = fit_with_context(sets, options);
    EXPECT_EQ(predict(result.model, sets.object), result.labels);
    for (const int label : predict(result.model, sets.context))
      EXPECT_LT(label, result.model.subclasses[0]);
  }
}

TEST(IccContext, SummaryIsOfTheSetAlone_issue30) {
  IccOptions options;
  options.bandwidth = "8c";
  options.bootstrap = 5;
  const IccResult result = fit_with_context(split_figure7(), options);
  const size_t subclasses = static_cast<size_t>(result.model.subclasses[0]);
  EXPECT_EQ(extra<std::vector<double>>(result.summary, "persistence").size(), subclasses);
  EXPECT_EQ(extra<std::vector<double>>(result.summary, "survival").size(), subclasses);
  EXPECT_EQ(extra<std::vector<double>>(result.summary, "mean_subclasses").size(), 1u);
  options.bandwidth = "auto";
  options.bootstrap = 0;
  EXPECT_EQ(fit_with_context(split_figure7(), options).model.num_classes(), 1);
}

TEST(IccContext, WithoutItTheSetMayBeWhole_issue30) {
  Random random(4);
  TwoSets sets{Matrix<float>(600, 2), Matrix<float>(300, 2)};
  for (int i = 0; i < 600; ++i)
    sets.object(i, 0) = static_cast<float>(4 * random.normal()),
                   sets.object(i, 1) = static_cast<float>(random.normal());
  for (int i = 0; i < 300; ++i)
    sets.context(i, 0) = static_cast<float>(0.7 * random.normal()),
                    sets.context(i, 1) = static_cast<float>(4 * random.normal());
  IccOptions options;
  options.bandwidth = "0.08";
  EXPECT_THAT(fit_with_context(sets, options).model.subclasses, ElementsAre(2));
  options.bandwidth = "0.1";
  EXPECT_THAT(fit_icc({sets.object, {}, {}, {}}, options).model.subclasses, ElementsAre(1));
}

TEST(IccContext, WrongUsesAreRefused_issue30) {
  const TwoSets sets = split_figure7();
  const auto refused = [&](IccInput input, const std::string& text) {
    input.context = sets.context;
    EXPECT_THAT(message_of([&] { fit_icc(input, {}); }), HasSubstr(text));
  };
  const std::vector<int> classes(600, 0);
  refused({.points = sets.object, .classes = classes}, "give classes or a context, not both");
  refused({.points = sets.object, .classes = {}, .coordinates = sets.object},
          "coordinates have no rows for the context");
  const Matrix<float> wide(600, 3);
  refused({.points = wide, .classes = {}}, "the context has 2 columns, points have 3");
  Matrix<float> broken = sets.context;
  broken(3, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(
      message_of([&] { fit_icc({.points = sets.object, .classes = {}, .context = broken}, {}); }),
      HasSubstr("context has nan at row 3, column 1"));
}

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Densities on the surface that samples lie on: Isomap and LLE as projections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/icc/icc.h"
#include "milieu/icc/icc_classifier.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;

struct Roll {
  Matrix<float> points;
  std::vector<int> parts;    // along the roll: 0, 1, 2
  std::vector<int> classes;  // the two outer parts are one class, what lies between is the other
};

// Three clouds one after the other on a rolled-up strip, each with one mode: in space, the outer
// ones surround the one between.
Roll three_on_a_roll(int n, uint64_t seed) {
  Random random(seed);
  Roll roll{Matrix<float>(n, 3), {}, {}};
  for (int i = 0; i < n; ++i) {
    const int part = i % 3;
    const double turn = 5 + 4 * part + 0.8 * random.normal();
    roll.points(i, 0) = static_cast<float>(turn * std::cos(turn));
    roll.points(i, 1) = static_cast<float>(random.normal());
    roll.points(i, 2) = static_cast<float>(turn * std::sin(turn));
    roll.parts.push_back(part);
    roll.classes.push_back(part == 1);
  }
  return roll;
}

IccOptions options_with(IccProjection projection) {
  IccOptions options;
  options.projection = projection;
  options.bandwidth = "0.1";
  options.num_threads = 2;
  return options;
}

TEST(IccManifold, TheContextOnTheRollSplitsTheClass_issue30) {
  const Roll roll = three_on_a_roll(600, 1);
  for (const IccProjection projection : {IccProjection::Isomap, IccProjection::Lle}) {
    const IccResult result = fit_icc({roll.points, roll.classes, {}, {}}, options_with(projection));
    ASSERT_EQ(result.model.subclasses[0], 2) << static_cast<int>(projection);
    int right = 0;  // sub-classes 0 and 1 are the outer parts, in one of the two orders
    for (int i = 0; i < 600; ++i)
      if (roll.classes[i] == 0) right += result.labels[i] == (roll.parts[i] == 2);
    EXPECT_GE(std::max(right, 400 - right), 390) << static_cast<int>(projection);
  }
}

TEST(IccManifold, TrainingSamplesGetTheirLabelsBack_issue30) {
  const Roll roll = three_on_a_roll(300, 2);
  for (const IccProjection projection : {IccProjection::Isomap, IccProjection::Lle})
    for (const IccClimb climb : {IccClimb::Basin, IccClimb::Free}) {
      IccOptions options = options_with(projection);
      options.climb = climb;
      const IccResult result = fit_icc({roll.points, roll.classes, {}, {}}, options);
      EXPECT_EQ(predict(result.model, roll.points, roll.classes), result.labels);
      EXPECT_EQ(project(result.model, roll.points).cols(), 2);
    }
}

TEST(IccManifold, NewSamplesAreOnTheSameSurface_issue30) {
  const Roll roll = three_on_a_roll(600, 1), fresh = three_on_a_roll(150, 9);
  const IccResult result =
      fit_icc({roll.points, roll.classes, {}, {}}, options_with(IccProjection::Isomap));
  const std::vector<int> labels = predict(result.model, fresh.points, fresh.classes);
  int agree = 0, pairs = 0;  // outer parts of new samples and of old ones have the same labels
  for (int i = 0; i < 150; ++i)
    for (int j = 0; j < 30; ++j)
      if (fresh.classes[i] == 0 && roll.classes[j] == 0) {
        ++pairs;
        agree += (labels[i] == result.labels[j]) == (fresh.parts[i] == roll.parts[j]);
      }
  EXPECT_GE(agree, 0.97 * pairs);
}

TEST(IccManifold, ComponentsContextAndClassifierWork_issue30) {
  const Roll roll = three_on_a_roll(300, 3);
  IccOptions options = options_with(IccProjection::Isomap);
  options.components = "1";
  EXPECT_EQ(fit_icc({roll.points, roll.classes, {}, {}}, options).model.axes.rows(), 1);
  IccClassifierOptions classifier;
  classifier.icc = options_with(IccProjection::Isomap);
  const IccClassifierResult fitted = fit_icc_classifier({roll.points, roll.classes}, classifier);
  EXPECT_EQ(fitted.labels.size(), 300u);
  classifier.split = IccSplit::Em;
  EXPECT_EQ(fit_icc_classifier({roll.points, roll.classes}, classifier).labels.size(), 300u);
}

TEST(IccManifold, WrongUsesAreRefused_issue30) {
  const Roll roll = three_on_a_roll(60, 4);
  IccOptions options = options_with(IccProjection::Isomap);
  options.manifold_neighbors = 60;
  EXPECT_THAT(message_of([&] {
                fit_icc({roll.points, {}, {}, {}}, options);
              }),
              HasSubstr("num_neighbors is 60, but there are 60 samples"));
  options = options_with(IccProjection::Lle);
  options.standardize = true;
  EXPECT_THAT(message_of([&] {
                fit_icc({roll.points, {}, {}, {}}, options);
              }),
              HasSubstr("standardize is not for projections isomap and lle"));
  IccModel model = fit_icc({roll.points, {}, {}, {}}, options_with(IccProjection::Isomap)).model;
  model.manifold.means.pop_back();
  EXPECT_THROW(predict(model, roll.points), DataError);
}

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/classify/class_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ClassLabels, CountsEveryClass) {
  const std::vector<int> labels = {1, 0, 1, 2, 1};
  EXPECT_THAT(count_classes(labels, 5), ElementsAre(1, 3, 1));
}

TEST(ClassLabels, RefusesWhatDoesNotFit) {
  const std::vector<int> labels = {0, 1, -1};
  EXPECT_THAT(message_of([&] { count_classes(labels, 3); }), HasSubstr("row 2 has class -1"));
  EXPECT_THAT(message_of([&] { count_classes(labels, 4); }), HasSubstr("3 labels for 4 points"));
  const std::vector<int> gap = {0, 2};
  EXPECT_THAT(message_of([&] { count_classes(gap, 2); }), HasSubstr("class 1 of 3 has no rows"));
}

TEST(ClassLabels, PosteriorsSumToOneFarFromZero) {
  Matrix<double> scores(1, 3);
  scores(0, 0) = -5000;
  scores(0, 1) = -5000 + std::log(3.0);
  scores(0, 2) = -9000;
  normalize_log_scores(scores);
  EXPECT_NEAR(scores(0, 0), 0.25, 1e-12);
  EXPECT_NEAR(scores(0, 1), 0.75, 1e-12);
  EXPECT_EQ(scores(0, 2), 0);
  EXPECT_THAT(argmax_rows(scores), ElementsAre(1));
}

TEST(ClassLabels, TiesGoToTheLowestColumn) {
  EXPECT_THAT(argmax_rows(Matrix<double>(2, 3)), ElementsAre(0, 0));
}

}  // namespace
}  // namespace milieu

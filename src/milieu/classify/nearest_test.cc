// SPDX-License-Identifier: Apache-2.0
#include "milieu/classify/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Matrix<float> column(std::initializer_list<float> values) {
  Matrix<float> m(static_cast<int64_t>(values.size()), 1);
  std::copy(values.begin(), values.end(), m.data());
  return m;
}

TEST(Nearest, MostVotesWinAndTiesGoToTheNearest) {
  const std::vector<int> labels = {0, 0, 1, 2};
  const Matrix<float> points = column({0, 1, 3, 4});
  EXPECT_THAT(predict(fit_nearest(points, labels), column({0.4f, 2.5f, 9})), ElementsAre(0, 1, 2));
  const NearestModel three = fit_nearest(points, labels, 3);
  EXPECT_THAT(predict(three, column({1.5f, 2.9f, 9})), ElementsAre(0, 1, 2));
  const Matrix<double> shares = predict_probabilities(three, column({1.5f}));
  EXPECT_NEAR(shares(0, 0), 2.0 / 3, 1e-12);
  EXPECT_NEAR(shares(0, 1), 1.0 / 3, 1e-12);
  EXPECT_EQ(shares(0, 2), 0);
}

TEST(Nearest, WrongSizesAreRefused) {
  const std::vector<int> labels = {0, 1};
  EXPECT_THAT(message_of([&] {
                fit_nearest(column({0, 1}), labels, 3);
              }),
              HasSubstr("num_neighbors is 3"));
  const NearestModel model = fit_nearest(column({0, 1}), labels);
  EXPECT_THAT(message_of([&] { predict(model, Matrix<float>(1, 2)); }), HasSubstr("2 columns"));
}

}  // namespace
}  // namespace milieu

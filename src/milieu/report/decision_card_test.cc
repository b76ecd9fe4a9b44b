// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/decision_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/render/contact_sheet.h"
#include "milieu/render/markup_check.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Matrix<float> matrix(int64_t rows, int64_t cols, std::initializer_list<float> values) {
  Matrix<float> m(rows, cols);
  std::copy(values.begin(), values.end(), m.data());
  return m;
}

TEST(DecisionCard, CountsSamplesAndContextOnTheWrongSide) {
  const Matrix<float> decisions = matrix(4, 2, {2, -3, -0.5f, -1, -2, 4, -2, 1});
  const Matrix<float> context = matrix(3, 2, {-1, -1, 0.5f, -2, -1, -2});
  const std::vector<int> labels{0, 0, 1, 1};
  const std::string cards = render_decision_cards({decisions, labels, context});
  EXPECT_THAT(find_markup_faults(cards), IsEmpty());
  EXPECT_THAT(cards, HasSubstr("Part 0: 2 samples up, 3 samples of the context down; 1 sample and "
                               "1 of the context on the wrong side of 0."));
  EXPECT_THAT(cards, HasSubstr("Part 1: 2 samples up, 3 samples of the context down; 0 samples and "
                               "0 of the context on the wrong side of 0."));
}

TEST(DecisionCard, SharesOfABarAreThoseOfItsGroup) {
  // Four samples of part 0: three at 5, one at 1.6; the context in one place.
  const Matrix<float> decisions = matrix(4, 1, {5, 5, 5, 1.6f});
  const Matrix<float> context = matrix(2, 1, {-3, -3});
  const std::string cards =
      render_decision_cards({decisions, std::vector<int>{0, 0, 0, 0}, context});
  EXPECT_THAT(cards, HasSubstr("75 % of the part"));
  EXPECT_THAT(cards, HasSubstr("25 % of the part"));
  EXPECT_THAT(cards, HasSubstr("100 % of the context"));
}

TEST(DecisionCard, OddInputMakesWholeCards) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = INFINITY;
  const Matrix<float> decisions = matrix(2, 2, {nan, inf, -inf, 0});
  const std::string cards =
      render_decision_cards({decisions, std::vector<int>{1, 1}, Matrix<float>(0, 2)});
  EXPECT_THAT(find_markup_faults(cards), IsEmpty());
  EXPECT_THAT(cards, Not(HasSubstr("nan")));
  EXPECT_EQ(render_decision_cards({Matrix<float>(0, 2), {}, Matrix<float>(0, 2)}), "");
  EXPECT_THROW(render_decision_cards({decisions, std::vector<int>{0}, {}}), InvalidArgument);
}

TEST(DecisionCard, NoMoreThanEightParts) {
  const Matrix<float> decisions(1, 30), context(1, 30);
  const std::string cards = render_decision_cards({decisions, std::vector<int>{0}, context});
  EXPECT_THAT(cards, HasSubstr("The first 8 of 30 parts"));
  EXPECT_THAT(cards, Not(HasSubstr("Part 8 ")));
}

TEST(ChooseSamples, ByMargin) {
  const std::vector<int> labels{0, 0, 1, 0, 0, 1};
  const std::vector<float> margins{0.5f, 3, 1, 2, 0.1f, 1};
  const auto samples =
      choose_samples_by_margin(labels, margins, {.num_typical = 2, .num_least_sure = 1});
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_THAT(samples[0].typical, ElementsAre(1, 3));
  EXPECT_THAT(samples[0].least_sure, ElementsAre(4));
  EXPECT_EQ(samples[0].size, 4);
  EXPECT_THAT(samples[1].typical, ElementsAre(2, 5));  // ties: lower row first
  EXPECT_TRUE(samples[1].least_sure.empty());
}

}  // namespace
}  // namespace milieu

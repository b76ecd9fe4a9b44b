// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/log_sum_exp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/linalg/isa.h"

namespace milieu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(LogSumExp, HandCases) {
  EXPECT_NEAR(log_sum_exp(std::vector<double>{0, 0}), std::log(2.0), 1e-15);
  EXPECT_NEAR(log_sum_exp(std::vector<double>{1000, 1000}), 1000 + std::log(2.0), 1e-12);
  EXPECT_NEAR(log_sum_exp(std::vector<double>{-1000, -1001}), -1000 + std::log1p(std::exp(-1.0)),
              1e-12);
  EXPECT_EQ(log_sum_exp(std::vector<double>{3.5}), 3.5);
}

TEST(LogSumExp, InfinitiesAndNaNAreDefined) {
  EXPECT_EQ(log_sum_exp({}), -kInfinity);
  EXPECT_EQ(log_sum_exp(std::vector<double>{-kInfinity, -kInfinity}), -kInfinity);
  EXPECT_EQ(log_sum_exp(std::vector<double>{-kInfinity, 2}), 2);
  EXPECT_EQ(log_sum_exp(std::vector<double>{kInfinity, 2}), kInfinity);
  EXPECT_TRUE(std::isnan(log_sum_exp(std::vector<double>{0, std::nan("")})));
}

TEST(Softmax, ExponentialIsAsAccurateAsTheHeaderSays) {
  std::vector<float> values;
  for (float x = -86.9f; x < 87.9f; x += 0.00173f) values.push_back(x);
  std::vector<float> results = values;
  exp_in_place(results);
  for (size_t i = 0; i < values.size(); ++i) {
    const double exact = std::exp(static_cast<double>(values[i]));
    ASSERT_NEAR(results[i], exact, 3e-7 * exact) << "at " << values[i];
  }
}

TEST(Softmax, ExponentialOfExtremesIsDefined) {
  std::vector<float> values{-std::numeric_limits<float>::infinity(), -1e30f, 0, 1e30f};
  exp_in_place(values);
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], 0);
  EXPECT_EQ(values[2], 1);
  EXPECT_TRUE(std::isfinite(values[3]));
}

TEST(Softmax, RowsAgreeWithDoublePrecision) {
  Random random(5);
  for (const int64_t k : {1, 2, 15, 16, 17, 100}) {
    Matrix<float> block(9, k);
    for (int64_t i = 0; i < block.size(); ++i)
      block.data()[i] = static_cast<float>(random.uniform(-700, -600));
    const Matrix<float> before = block;
    std::vector<double> log_sums(9);
    softmax_rows(block, log_sums);
    for (int64_t i = 0; i < 9; ++i) {
      const std::vector<double> row(before.row(i), before.row(i) + k);
      const double exact = log_sum_exp(row);
      EXPECT_NEAR(log_sums[i], exact, 4e-7);
      double sum = 0;
      for (int64_t j = 0; j < k; ++j) {
        EXPECT_NEAR(block(i, j), std::exp(row[j] - exact), 1e-6 * std::exp(row[j] - exact) + 1e-37);
        sum += block(i, j);
      }
      EXPECT_NEAR(sum, 1, 1e-6);
    }
  }
}

TEST(Softmax, ImpossiblePartsGetZero) {
  Matrix<float> block(1, 3);
  block(0, 0) = -std::numeric_limits<float>::infinity();
  block(0, 1) = 5;
  block(0, 2) = 5;
  std::vector<double> log_sums(1);
  softmax_rows(block, log_sums);
  EXPECT_EQ(block(0, 0), 0);
  EXPECT_EQ(block(0, 1), 0.5f);
  EXPECT_NEAR(log_sums[0], 5 + std::log(2.0), 1e-12);
}

TEST(Softmax, SameBitsOnEveryInstructionSet) {
  Random random(6);
  Matrix<float> block(4, 37);
  for (int64_t i = 0; i < block.size(); ++i)
    block.data()[i] = static_cast<float>(random.uniform(-30, 0));
  const auto run = [&](Isa isa) {
    const ScopedIsa scoped(isa);
    Matrix<float> copy = block;
    std::vector<double> log_sums(4);
    softmax_rows(copy, log_sums);
    return std::pair(copy, log_sums);
  };
  const auto expected = run(Isa::Baseline);
  for (const Isa isa : {Isa::V3, Isa::V4}) {
    if (isa > best_isa()) continue;
    EXPECT_EQ(run(isa), expected);
  }
}

TEST(Softmax, WrongSizesAreRefused) {
  Matrix<float> block(3, 2);
  std::vector<double> too_short(2);
  EXPECT_THROW(softmax_rows(block, too_short), InvalidArgument);
}

}  // namespace
}  // namespace milieu

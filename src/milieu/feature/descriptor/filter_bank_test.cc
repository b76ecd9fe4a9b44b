// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/filter_bank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "milieu/base/error.h"
#include "milieu/feature/descriptor/filter_bank_internal.h"
#include "milieu/feature/test_images.h"

namespace milieu {
namespace {

using internal::Derivative;

TEST(FilterBank, BanksHaveTheFiltersOfThePapers) {
  const auto count = [](const std::vector<internal::FilterGroup>& bank) {
    int64_t filters = 0;
    for (const auto& group : bank) filters += group.filters.rows();
    return filters;
  };
  EXPECT_EQ(count(internal::leung_malik_bank()), 48);
  EXPECT_EQ(count(internal::maximum_response_bank()), 38);
}

TEST(FilterBank, AbsoluteValuesSumToOneAndAllButGaussiansToZero) {
  const auto& bank = internal::maximum_response_bank();
  for (size_t g = 0; g < bank.size(); ++g)
    for (int64_t i = 0; i < bank[g].filters.rows(); ++i) {
      double sum = 0, absolute = 0;
      for (const float value : bank[g].filters.row_span(i)) {
        sum += value;
        absolute += std::abs(value);
      }
      EXPECT_NEAR(absolute, 1, 1e-5);
      EXPECT_NEAR(sum, g == 3 && i == 0 ? 1 : 0, 1e-5);
    }
}

TEST(FilterBank, EdgeFilterIsOddBarFilterIsEven) {
  const int radius = 9, side = 2 * radius + 1;
  const auto edge = internal::oriented_filter(1, 3, 0.5, Derivative::First, radius);
  const auto bar = internal::oriented_filter(1, 3, 0.5, Derivative::Second, radius);
  for (int i = 0; i < side * side; ++i) {
    EXPECT_NEAR(edge[i], -edge[side * side - 1 - i], 1e-7);
    EXPECT_NEAR(bar[i], bar[side * side - 1 - i], 1e-7);
  }
}

// One filter at one pixel, by the definition.
double slow_response(const Image& image, int x, int y, const std::vector<float>& filter,
                     int radius) {
  const Matrix<float> gray = image.gray();
  double mean = 0, variance = 0;
  for (int64_t i = 0; i < gray.size(); ++i) mean += gray.data()[i] / gray.size();
  for (int64_t i = 0; i < gray.size(); ++i)
    variance += std::pow(gray.data()[i] - mean, 2) / gray.size();
  const auto fold = [](int i, int n) {
    while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
    return i;
  };
  double sum = 0;
  for (int j = -radius; j <= radius; ++j)
    for (int i = -radius; i <= radius; ++i)
      sum += filter[(j + radius) * (2 * radius + 1) + i + radius] *
             (gray(fold(y + j, image.height), fold(x + i, image.width)) - mean) /
             std::sqrt(variance);
  return sum;
}

TEST(FilterBank, Mr8EqualsTheSlowDefinition) {
  const Image image = test_images::blobs(37, 31, 15, 1);
  const LocalDescriptors fast = mr8_responses(image, {.step = 7});
  ASSERT_EQ(fast.descriptors.rows(), 6 * 5);
  for (const int64_t row : {0, 13, 29}) {
    const int x = static_cast<int>(fast.frames(row, 0)), y = static_cast<int>(fast.frames(row, 1));
    std::vector<double> expected;
    for (const double sigma : {1.0, 2.0, 4.0}) {
      const int radius = std::min(24, static_cast<int>(9 * sigma));
      double edge = 0, bar = -1e30;
      for (int d = 0; d < 6; ++d) {
        const double angle = std::numbers::pi * d / 6;
        const auto respond = [&](Derivative derivative) {
          return slow_response(
              image, x, y, internal::oriented_filter(sigma, 3 * sigma, angle, derivative, radius),
              radius);
        };
        edge = std::max(edge, std::abs(respond(Derivative::First)));
        bar = std::max(bar, respond(Derivative::Second));
      }
      expected.insert(expected.end(), {edge, bar});
    }
    expected.push_back(
        slow_response(image, x, y, internal::oriented_filter(10, 10, 0, Derivative::None, 24), 24));
    expected.push_back(slow_response(image, x, y, internal::laplacian_filter(10, 24), 24));
    double norm = 0;
    for (const double r : expected) norm += r * r;
    norm = std::sqrt(norm);
    for (int t = 0; t < 8; ++t)
      EXPECT_NEAR(fast.descriptors(row, t), expected[t] * std::log(1 + norm / 0.03) / norm, 1e-4);
  }
}

TEST(FilterBank, Mr8OfATurnedImageIsTheSame) {
  const Image image = test_images::blobs(61, 61, 30, 2);
  const LocalDescriptors a = mr8_responses(image, {.step = 4});
  const LocalDescriptors b = mr8_responses(test_images::quarter_turn(image), {.step = 4});
  ASSERT_EQ(a.grid_rows, 16);
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x)
      for (int t = 0; t < 8; ++t)
        EXPECT_NEAR(a.descriptors(y * 16 + x, t), b.descriptors(x * 16 + 15 - y, t), 1e-4);
}

TEST(FilterBank, TextonsSeparateDirections) {
  // Crests perpendicular to direction d answer the edge or bar filter of that direction most.
  for (int d = 0; d < 6; ++d) {
    const LocalDescriptors out =
        texton_responses(test_images::grating(80, 80, 8, std::numbers::pi * d / 6), {.step = 5});
    double energy[6] = {};
    for (int64_t i = 0; i < out.descriptors.rows(); ++i)
      for (int e = 0; e < 6; ++e)
        energy[e] += std::pow(out.descriptors(i, e), 2) + std::pow(out.descriptors(i, 6 + e), 2);
    EXPECT_EQ(std::max_element(energy, energy + 6) - energy, d);
  }
}

TEST(FilterBank, ShiftByOneStepShiftsResponses) {
  // Periodic with the size of the image: the shifted one has the same mean and deviation.
  const auto image = [](int shift) {
    return test_images::from_function(120, 120, [&](int x, int y) {
      const double turn = 2 * std::numbers::pi / 120;
      return 128 + 40 * std::sin(turn * (7 * (x + shift) + 3 * (y + shift))) +
             50 * std::cos(turn * (11 * (y + shift) - 5 * (x + shift)));
    });
  };
  const LocalDescriptors a = texton_responses(image(0)), b = texton_responses(image(4));
  for (int y = 8; y < 22; ++y)
    for (int x = 8; x < 22; ++x)
      for (int t = 0; t < 48; ++t)
        EXPECT_NEAR(a.descriptors(y * a.grid_cols + x, t),
                    b.descriptors((y - 1) * b.grid_cols + x - 1, t), 1e-4);
}

TEST(FilterBank, ConstantAndTinyImagesGiveZeros) {
  for (const auto& [width, height] : {std::pair(1, 1), std::pair(2, 9), std::pair(30, 30)}) {
    const LocalDescriptors out = mr8_responses(test_images::constant(width, height, 50));
    EXPECT_GT(out.descriptors.rows(), 0);
    for (int64_t i = 0; i < out.descriptors.size(); ++i) EXPECT_EQ(out.descriptors.data()[i], 0.0f);
  }
  const LocalDescriptors line = texton_responses(test_images::noise(3000, 1, 4), {.step = 10});
  EXPECT_EQ(line.descriptors.rows(), 300);
  for (int64_t i = 0; i < line.descriptors.size(); ++i)
    ASSERT_TRUE(std::isfinite(line.descriptors.data()[i]));
  EXPECT_THROW(mr8_responses(test_images::constant(3, 3, 1), {.step = 0}), InvalidArgument);
}

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/builtin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "milieu/base/error.h"

namespace milieu {
namespace {

std::vector<int> class_sizes(const Labels& labels) {
  std::vector<int> sizes(labels.names.size(), 0);
  for (int index : labels.indices) ++sizes.at(index);
  return sizes;
}

bool are_equal(const Dataset& a, const Dataset& b) {
  return Matrix<float>(a.points.view()) == Matrix<float>(b.points.view()) &&
         a.labels.indices == b.labels.indices;
}

// The mean image of a class, over many images.
std::vector<double> mean_image(const Dataset& data, const std::string& name) {
  const auto& names = data.labels.names;
  const int wanted = static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
  std::vector<double> mean(data.points.cols(), 0.0);
  int count = 0;
  for (int64_t i = 0; i < data.points.rows(); ++i) {
    if (data.labels.indices[i] != wanted) continue;
    ++count;
    for (int64_t j = 0; j < data.points.cols(); ++j) mean[j] += data.points.view()(i, j);
  }
  for (double& value : mean) value /= count;
  return mean;
}

TEST(BuiltinShapes, HaveTheirSizesAndClasses) {
  const Dataset data = make_builtin_shapes(1, 20);
  EXPECT_EQ(data.points.rows(), 160);
  EXPECT_EQ(data.points.cols(), kBuiltinImageSide * kBuiltinImageSide);
  EXPECT_EQ(class_sizes(data.labels), std::vector<int>(8, 20));
  EXPECT_TRUE(std::is_sorted(data.labels.names.begin(), data.labels.names.end()));
  for (int64_t i = 0; i < data.points.rows(); ++i)
    for (float value : data.points.view().row_span(i)) ASSERT_TRUE(value >= 0 && value <= 1);
}

TEST(BuiltinShapes, SameSeedSameBitsAndOtherSeedsDiffer) {
  EXPECT_TRUE(are_equal(make_builtin_shapes(3, 5), make_builtin_shapes(3, 5)));
  EXPECT_FALSE(are_equal(make_builtin_shapes(3, 5), make_builtin_shapes(4, 5)));
}

// Frozen sums of bits: a change here changes the demo that people have seen. Exact, because only
// correctly rounded operations are used.
TEST(BuiltinShapes, BitsAreFrozen) {
  const auto checksum = [](const Dataset& data) {
    uint64_t sum = 0;
    const Matrix<float> copy(data.points.view());
    for (int64_t i = 0; i < copy.size(); ++i) {
      uint32_t bits = 0;
      std::memcpy(&bits, copy.data() + i, sizeof bits);
      sum = sum * 1099511628211u + bits;
    }
    return sum;
  };
  EXPECT_EQ(checksum(make_builtin_shapes(1, 4)), 0xbabd88376e688fe6u);
  EXPECT_EQ(checksum(make_builtin_rings(1, 4)), 0x1c007b41707964c2u);
}

TEST(BuiltinShapes, LookLikeTheirNames) {
  const Dataset data = make_builtin_shapes(1, 100);
  const int middle = kBuiltinImageSide / 2 * kBuiltinImageSide + kBuiltinImageSide / 2;
  const auto disc = mean_image(data, "disc"), ring = mean_image(data, "ring");
  EXPECT_GT(disc[middle], 0.5);
  EXPECT_LT(ring[middle], 0.25);
  EXPECT_GT(ring[middle - 6], 0.4);  // on the ring
  const auto cross = mean_image(data, "cross"), square = mean_image(data, "square");
  const int diagonal = middle - 4 * kBuiltinImageSide - 4;  // in the square, between the arms
  EXPECT_GT(square[diagonal], 0.5);
  EXPECT_LT(cross[diagonal], 0.25);
  const auto crescent = mean_image(data, "crescent");
  EXPECT_GT(crescent[middle - 6], crescent[middle + 4] + 0.3);  // open to the right
  for (const auto* image : {&disc, &ring, &cross, &square, &crescent})
    EXPECT_LT(image->front(), 0.2);  // corners are background
}

TEST(BuiltinRings, LieWhereTheirNamesSay) {
  const Dataset data = make_builtin_rings(1, 100);
  EXPECT_EQ(data.points.cols(), 2);
  EXPECT_EQ(class_sizes(data.labels), std::vector<int>(4, 100));
  // Centre and radius of the circle that each class scatters around, in the order of the names:
  // core, lower-moon, ring, upper-moon. Five standard deviations are allowed.
  struct Circle {
    double x, y, radius, tolerance;
  };
  constexpr Circle kCircles[] = {
      {0, 0, 0, 1.5}, {6.2, 0.35, 1.6, 0.6}, {0, 0, 2, 0.6}, {4.6, -0.35, 1.6, 0.6}};
  for (int64_t i = 0; i < data.points.rows(); ++i) {
    const Circle& circle = kCircles[data.labels.indices[i]];
    const double x = data.points.view()(i, 0), y = data.points.view()(i, 1);
    EXPECT_NEAR(std::hypot(x - circle.x, y - circle.y), circle.radius, circle.tolerance) << i;
  }
  EXPECT_EQ(data.labels.names,
            (std::vector<std::string>{"core", "lower-moon", "ring", "upper-moon"}));
}

TEST(Builtin, NoSamplesAreRefused) {
  EXPECT_THROW(make_builtin_shapes(1, 0), InvalidArgument);
  EXPECT_THROW(make_builtin_rings(1, -1), InvalidArgument);
}

}  // namespace
}  // namespace milieu

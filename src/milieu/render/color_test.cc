// SPDX-License-Identifier: Apache-2.0
// What the palette promises: contrast with the cards of both themes, and colours that stay apart
// with normal vision and with the three kinds of dichromacy.
#include "milieu/render/color.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace milieu {
namespace {

using Vec3 = std::array<double, 3>;
using Mat3 = std::array<Vec3, 3>;

double to_linear(uint8_t value) {
  const double c = value / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

Vec3 to_linear(Color color) { return {to_linear(color.r), to_linear(color.g), to_linear(color.b)}; }

Vec3 multiply(const Mat3& m, const Vec3& v) {
  Vec3 out{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out[i] += m[i][j] * v[j];
  return out;
}

// WCAG 2 contrast ratio.
double contrast(Color a, Color b) {
  const auto luminance = [](Color color) {
    const Vec3 c = to_linear(color);
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
  };
  const double high = std::max(luminance(a), luminance(b));
  const double low = std::min(luminance(a), luminance(b));
  return (high + 0.05) / (low + 0.05);
}

// Ottosson's OKLab of a linear sRGB colour.
Vec3 to_oklab(const Vec3& linear) {
  constexpr Mat3 kCones = {{{0.4122214708, 0.5363325363, 0.0514459929},
                            {0.2119034982, 0.6806995451, 0.1073969566},
                            {0.0883024619, 0.2817188376, 0.6299787005}}};
  constexpr Mat3 kLab = {{{0.2104542553, 0.7936177850, -0.0040720468},
                          {1.9779984951, -2.4285922050, 0.4505937099},
                          {0.0259040371, 0.7827717662, -0.8086757660}}};
  Vec3 clipped = linear;
  for (double& value : clipped) value = std::clamp(value, 0.0, 1.0);
  Vec3 cones = multiply(kCones, clipped);
  for (double& value : cones) value = std::cbrt(value);
  return multiply(kLab, cones);
}

// Machado, Oliveira and Fernandes 2009, severity 1: protanopia, deuteranopia, tritanopia; first the
// normal eye.
constexpr std::array<Mat3, 4> kViews = {{{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                                         {{{0.152286, 1.052583, -0.204868},
                                           {0.114503, 0.786281, 0.099216},
                                           {-0.003882, -0.048116, 1.051998}}},
                                         {{{0.367322, 0.860646, -0.227968},
                                           {0.280085, 0.672501, 0.047413},
                                           {-0.011820, 0.042940, 0.968881}}},
                                         {{{1.255528, -0.076749, -0.178779},
                                           {-0.078411, 0.930809, 0.147602},
                                           {0.004733, 0.691367, 0.303900}}}}};

double least_distance(Color a, Color b) {
  double least = INFINITY;
  for (const Mat3& view : kViews) {
    const Vec3 p = to_oklab(multiply(view, to_linear(a)));
    const Vec3 q = to_oklab(multiply(view, to_linear(b)));
    least = std::min(least, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
  }
  return least;
}

// About the difference that an eye just notices, in OKLab.
constexpr double kJustNoticeable = 0.02;

void expect_apart(int num_colors, double steps) {
  for (int a = 0; a < num_colors; ++a)
    for (int b = 0; b < a; ++b)
      EXPECT_GE(least_distance(cluster_color(a), cluster_color(b)), steps * kJustNoticeable)
          << "clusters " << b << " and " << a;
}

TEST(Color, TheFirstEightColoursAreEasyToDistinguishForEveryEye) { expect_apart(8, 4); }
TEST(Color, AllColoursCanBeDistinguishedByEveryEye) { expect_apart(kNumClusterColors, 1.5); }

TEST(Color, ColoursStandOutFromBothThemes) {
  for (int cluster = -1; cluster < kNumClusterColors; ++cluster) {
    EXPECT_GE(contrast(cluster_color(cluster), {255, 255, 255}), 1.8) << cluster;
    EXPECT_GE(contrast(cluster_color(cluster), {0x16, 0x18, 0x1d}), 2.5) << cluster;
  }
}

TEST(Color, WhereColoursRepeatTheMarkerDiffers) {
  std::set<std::pair<std::string, bool>> looks;
  for (int cluster = 0; cluster < 2 * kNumClusterColors; ++cluster)
    looks.emplace(to_hex(cluster_color(cluster)), has_square_marker(cluster));
  EXPECT_EQ(looks.size(), 2u * kNumClusterColors);
}

TEST(Color, NoClusterIsGrey) {
  const Color grey = cluster_color(-1);
  EXPECT_TRUE(grey.r == grey.g && grey.g == grey.b);
  EXPECT_FALSE(has_square_marker(-1));
}

TEST(Color, HexHasTwoDigitsAChannel) { EXPECT_EQ(to_hex({0, 10, 255}), "#000aff"); }

}  // namespace
}  // namespace milieu

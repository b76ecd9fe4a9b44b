// SPDX-License-Identifier: Apache-2.0
#include "milieu/testing/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "milieu/base/error.h"

namespace milieu {
namespace {

TEST(Lcg, FirstNumbersAreThoseOfTheNotes) {
  Lcg lcg;
  EXPECT_DOUBLE_EQ(lcg.uniform(), 16807 / 2147483647.0);
  EXPECT_DOUBLE_EQ(lcg.uniform(), 282475249 / 2147483647.0);
  EXPECT_DOUBLE_EQ(lcg.uniform(), 1622650073 / 2147483647.0);
}

// The stand-in for the data of [Yuan08, section 3.1]: 554 primitives whose coordinates sum up to
// the number that the note prints. Every draw of the generator is in that sum.
TEST(Lcg, MakesTheGoldenSetOfYuan08) {
  const double mean[5][2] = {{150, 160}, {300, 100}, {95, 110}, {205, 210}, {60, 310}};
  const double deviation[5] = {54, 40, 48, 48, 40};
  Lcg lcg(1);
  int64_t count[5] = {};
  double sum = 0;
  for (int site = 0; site < 225; ++site) {
    lcg.uniform(), lcg.uniform();  // the site's centre
    const bool first_pattern = lcg.uniform() < 0.55;
    for (int c = first_pattern ? 0 : 2; c < (first_pattern ? 2 : 5); ++c) {
      const bool is_skipped = lcg.uniform() < 0.1;
      const bool is_doubled = lcg.uniform() < 0.3 && (c == 1 || c == 4);
      for (int copy = 0; !is_skipped && copy < (is_doubled ? 2 : 1); ++copy) {
        for (int j = 0; j < 2; ++j) sum += mean[c][j] + deviation[c] * lcg.normal();
        lcg.normal(), lcg.normal();  // the position
        ++count[c];
      }
    }
  }
  EXPECT_EQ(std::vector<int64_t>(count, count + 5), (std::vector<int64_t>{98, 129, 105, 101, 121}));
  EXPECT_NEAR(sum, 188974.135608, 1e-6);
}

TEST(Blobs, HaveTheAskedShapeAndBalance) {
  const LabelledPoints made = make_blobs({.n = 100, .d = 5, .num_clusters = 3});
  EXPECT_EQ(made.points.rows(), 100);
  EXPECT_EQ(made.points.cols(), 5);
  EXPECT_EQ(std::count(made.labels.begin(), made.labels.end(), 0), 34);
  EXPECT_EQ(std::count(made.labels.begin(), made.labels.end(), 1), 33);
  EXPECT_EQ(std::count(made.labels.begin(), made.labels.end(), 2), 33);
  EXPECT_FALSE(std::is_sorted(made.labels.begin(), made.labels.end()));
}

TEST(Blobs, CentresKeepTheirDistance) {
  // Without noise each sample is its centre.
  const LabelledPoints made =
      make_blobs({.n = 60, .d = 2, .num_clusters = 20, .separation = 5, .noise = 0});
  for (int64_t i = 0; i < 60; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      const double distance =
          std::hypot(made.points(i, 0) - made.points(j, 0), made.points(i, 1) - made.points(j, 1));
      if (made.labels[i] == made.labels[j])
        EXPECT_EQ(distance, 0);
      else
        EXPECT_GT(distance, 5 - 1e-4);
    }
  }
}

TEST(Blobs, DependOnTheSeedOnly) {
  const BlobOptions options{.n = 3000, .seed = 4};
  EXPECT_EQ(make_blobs(options).points, make_blobs(options).points);
  BlobOptions other = options;
  other.seed = 5;
  EXPECT_FALSE(make_blobs(options).points == make_blobs(other).points);
}

TEST(Blobs, RefuseImpossibleShapes) {
  EXPECT_THROW(make_blobs({.n = -1}), InvalidArgument);
  EXPECT_THROW(make_blobs({.d = 0}), InvalidArgument);
  EXPECT_THROW(make_blobs({.num_clusters = 0}), InvalidArgument);
  EXPECT_THROW(make_blobs({.noise = -1}), InvalidArgument);
}

TEST(Rings, LieOnTheirRadius) {
  const LabelledPoints made = make_rings({.n = 200, .num_rings = 3, .noise = 0});
  for (int64_t i = 0; i < 200; ++i)
    EXPECT_NEAR(std::hypot(made.points(i, 0), made.points(i, 1)), made.labels[i] + 1, 1e-5);
}

TEST(Moons, LieOnTheirHalfCircles) {
  const LabelledPoints made = make_moons({.n = 200, .noise = 0});
  for (int64_t i = 0; i < 200; ++i) {
    const double x = made.points(i, 0) - made.labels[i];
    const double y = made.labels[i] == 0 ? made.points(i, 1) : 0.5 - made.points(i, 1);
    EXPECT_NEAR(std::hypot(x, y), 1, 1e-5);
    EXPECT_GE(y, 0);
  }
}

TEST(SiftLike, IsWholeNonNegativeAndOfLength512) {
  const LabelledPoints made = make_sift_like({.n = 500, .num_clusters = 10});
  int64_t num_zeros = 0;
  for (int64_t i = 0; i < 500; ++i) {
    double norm2 = 0;
    for (const float x : made.points.row_span(i)) {
      ASSERT_TRUE(x >= 0 && x <= 255 && x == std::floor(x)) << x;
      num_zeros += x == 0;
      norm2 += x * x;
    }
    EXPECT_NEAR(std::sqrt(norm2), 512, 25);  // less where entries were cut at 255
  }
  EXPECT_GT(num_zeros, 500 * 128 / 10);
}

TEST(BinaryBlobs, AreBitsNearTheirPrototype) {
  const LabelledPoints exact = make_binary_blobs({.flip_probability = 0});
  const LabelledPoints noisy = make_binary_blobs({.flip_probability = 0.1});
  ASSERT_EQ(exact.labels, noisy.labels);
  int64_t flips = 0;
  std::set<std::vector<float>> prototypes;
  for (int64_t i = 0; i < 300; ++i) {
    const auto row = exact.points.row_span(i);
    prototypes.emplace(row.begin(), row.end());
    for (int64_t j = 0; j < 64; ++j) {
      ASSERT_TRUE(noisy.points(i, j) == 0 || noisy.points(i, j) == 1);
      flips += noisy.points(i, j) != exact.points(i, j);
    }
  }
  EXPECT_EQ(prototypes.size(), 3u);
  // Five standard deviations of a binomial count.
  EXPECT_NEAR(flips, 300 * 64 * 0.1, 5 * std::sqrt(300 * 64 * 0.09));
}

TEST(BinaryBlobs, CrowdedPrototypesStillEnd) {
  const LabelledPoints made = make_binary_blobs({.n = 50, .d = 2, .num_clusters = 10});
  EXPECT_EQ(made.points.rows(), 50);
}

}  // namespace
}  // namespace milieu

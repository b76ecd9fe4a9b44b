// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/contact_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/render/markup_check.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Matrix<float> column(std::initializer_list<float> values) {
  Matrix<float> points(static_cast<int64_t>(values.size()), 1);
  std::copy(values.begin(), values.end(), points.data());
  return points;
}

// Pixel (x, y) of the sheet: grey where it is opaque, -1 in the gaps.
int gray_at(const RasterImage& sheet, int x, int y) {
  return sheet.at(x, y)[1] == 255 ? sheet.at(x, y)[0] : -1;
}

TEST(ContactSheet, SmallImagesAreEnlargedAndPlacedInAGrid) {
  Matrix<float> images(3, 2);  // 2 x 1 pixels
  images(0, 0) = 1, images(1, 1) = 1, images(2, 0) = images(2, 1) = 0.5f;
  const std::vector<int64_t> rows = {0, 1, 2};
  const RasterImage sheet = make_contact_sheet({images, 2, 1}, rows, 2, {0, 1});
  const int gap = 2, cell_width = 16, cell_height = 8;  // enlarged 8 times, the most
  ASSERT_EQ(sheet.width, 2 * cell_width + gap);
  ASSERT_EQ(sheet.height, 2 * cell_height + gap);
  EXPECT_EQ(gray_at(sheet, 0, 0), 255);
  EXPECT_EQ(gray_at(sheet, 7, 7), 255);
  EXPECT_EQ(gray_at(sheet, 8, 0), 0);
  EXPECT_EQ(gray_at(sheet, cell_width, 0), -1);       // the gap
  EXPECT_EQ(gray_at(sheet, cell_width + gap, 0), 0);  // second image
  EXPECT_EQ(gray_at(sheet, cell_width + gap + 8, 0), 255);
  EXPECT_EQ(gray_at(sheet, 0, cell_height + gap), 128);                // third image, next line
  EXPECT_EQ(gray_at(sheet, cell_width + gap, cell_height + gap), -1);  // no fourth
}

TEST(ContactSheet, LargeImagesAreReducedByAveraging) {
  Matrix<float> images(1, 200 * 100);
  for (int64_t i = 0; i < images.size(); ++i) images.data()[i] = static_cast<float>(i % 2);
  const std::vector<int64_t> rows = {0};
  const RasterImage sheet = make_contact_sheet({images, 200, 100}, rows, 1, {0, 1});
  EXPECT_LE(sheet.width, 96);
  EXPECT_LE(sheet.height, 96);
  EXPECT_NEAR(gray_at(sheet, 5, 5), 127, 45);  // black and white columns, three per pixel
  EXPECT_NE(gray_at(sheet, 5, 5), 0);
}

TEST(ContactSheet, RangeFollowsTheUsualScalesOfPixels) {
  const std::vector<int64_t> rows = {0, 1, 2};
  const auto range_of = [&](const Matrix<float>& images) {
    const GrayRange range = find_gray_range({images, 1, 1}, rows);
    return std::pair(range.black, range.white);
  };
  EXPECT_EQ(range_of(column({0.2f, 0.4f, NAN})), std::pair(0.f, 1.f));
  EXPECT_EQ(range_of(column({0, 17, 200})), std::pair(0.f, 255.f));
  EXPECT_EQ(range_of(column({-3, 0, 5})), std::pair(-3.f, 5.f));
  EXPECT_EQ(range_of(column({NAN, NAN, NAN})), std::pair(0.f, 1.f));
  const auto [black, white] = range_of(column({-7, -7, -7}));
  EXPECT_LT(black, white);
}

TEST(ContactSheet, ValuesThatAreNotFiniteAreBlack) {
  const Matrix<float> images = column({NAN, INFINITY});
  const std::vector<int64_t> rows = {0, 1};
  const RasterImage sheet = make_contact_sheet({images, 1, 1}, rows, 2, {0, 1});
  EXPECT_EQ(gray_at(sheet, 0, 0), 0);
  EXPECT_EQ(gray_at(sheet, sheet.width - 1, 0), 0);
}

TEST(ContactSheet, SizesThatDoNotFitAreRefused) {
  const Matrix<float> images(2, 6);
  const std::vector<int64_t> rows = {0};
  EXPECT_THROW(make_contact_sheet({images, 2, 2}, rows, 1, {}), InvalidArgument);
  EXPECT_THROW(make_contact_sheet({images, -2, -3}, rows, 1, {}), InvalidArgument);
  EXPECT_THROW(make_contact_sheet({images, 2, 3}, {}, 1, {}), InvalidArgument);
}

// Two clusters on a line, means 1 (0 1 2) and 9 (8 9 10).
TEST(ChooseSamples, TypicalAreNearTheMeanAndLeastSureNearTheOther) {
  const Matrix<float> points = column({0, 10, 1, 9, 2, 8});
  const std::vector<int> labels = {0, 1, 0, 1, 0, 1};
  const auto samples = choose_samples(points, labels, {.num_typical = 1, .num_least_sure = 2});
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].cluster, 0);
  EXPECT_EQ(samples[0].size, 3);
  EXPECT_THAT(samples[0].typical, ElementsAre(2));
  EXPECT_THAT(samples[0].least_sure, ElementsAre(4, 0));
  EXPECT_THAT(samples[1].typical, ElementsAre(3));
  EXPECT_THAT(samples[1].least_sure, ElementsAre(5, 1));
}

TEST(ChooseSamples, AgreesWithBruteForce) {
  Random random(11);
  Matrix<float> points(200, 4);
  for (int64_t i = 0; i < points.size(); ++i)
    points.data()[i] = static_cast<float>(random.normal());
  std::vector<int> labels(200);
  for (int& label : labels) label = static_cast<int>(random.uniform_index(3));
  std::vector<std::vector<double>> means(3, std::vector<double>(4, 0.0));
  std::vector<int> counts(3, 0);
  for (int64_t i = 0; i < 200; ++i) {
    ++counts[labels[i]];
    for (int64_t j = 0; j < 4; ++j) means[labels[i]][j] += points(i, j);
  }
  for (int c = 0; c < 3; ++c)
    for (double& value : means[c]) value /= counts[c];
  const auto distance = [&](int64_t i, int c) {
    double sum = 0;
    for (int64_t j = 0; j < 4; ++j) sum += std::pow(points(i, j) - means[c][j], 2);
    return sum;
  };
  for (const ClusterSamples& s : choose_samples(points, labels)) {
    std::vector<int64_t> members;
    for (int64_t i = 0; i < 200; ++i)
      if (labels[i] == s.cluster) members.push_back(i);
    std::sort(members.begin(), members.end(), [&](int64_t a, int64_t b) {
      return distance(a, s.cluster) < distance(b, s.cluster);
    });
    ASSERT_EQ(s.typical.size(), 12u);
    EXPECT_TRUE(std::equal(s.typical.begin(), s.typical.end(), members.begin()));
    members.erase(members.begin(), members.begin() + 12);
    const auto margin = [&](int64_t i) {
      const int b = (s.cluster + 1) % 3, c = (s.cluster + 2) % 3;
      return std::min(distance(i, b), distance(i, c)) - distance(i, s.cluster);
    };
    std::sort(members.begin(), members.end(),
              [&](int64_t a, int64_t b) { return margin(a) < margin(b); });
    ASSERT_EQ(s.least_sure.size(), 6u);
    EXPECT_TRUE(std::equal(s.least_sure.begin(), s.least_sure.end(), members.begin()));
  }
}

TEST(ChooseSamples, TakesTheLargestClustersAndOrdersThemByNumber) {
  const Matrix<float> points = column({0, 1, 2, 3, 4, 5, 6});
  const std::vector<int> labels = {5, 5, 5, 2, 3, 3, -1};
  const auto samples = choose_samples(points, labels, {.max_clusters = 2});
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].cluster, 3);
  EXPECT_EQ(samples[1].cluster, 5);
}

TEST(ChooseSamples, OneClusterHasNoRivalAndNanComesLast) {
  const Matrix<float> points = column({NAN, 1, 2, 3});
  const auto samples = choose_samples(points, std::vector<int>{0, 0, 0, 0}, {.num_typical = 2});
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].typical.size(), 2u);
  EXPECT_THAT(samples[0].least_sure, IsEmpty());
  EXPECT_THAT(choose_samples(points, std::vector<int>{-1, -1, -1, -1}), IsEmpty());
}

TEST(ChooseSamples, RowsWithoutColumnsAreDefined) {
  const Matrix<float> points(40, 0);
  std::vector<int> labels(40);
  for (int i = 0; i < 40; ++i) labels[i] = i % 2;
  const auto samples = choose_samples(FloatView(points.data(), 40, 0), labels);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].typical.size(), 12u);
}

TEST(ClusterSheets, AreValidAndEscapeNames) {
  Matrix<float> images(8, 4);
  for (int64_t i = 0; i < images.size(); ++i) images.data()[i] = static_cast<float>(i % 5);
  const std::vector<int> labels = {0, 0, 0, 0, 1, 1, 1, 1};
  const ImageRows rows{images, 2, 2};
  const auto samples = choose_samples(images, labels, {.num_typical = 2});
  const std::string sheets = render_sheets(rows, make_cluster_figures(samples, {"<i>round</i>"}));
  EXPECT_THAT(find_markup_faults(sheets), IsEmpty());
  EXPECT_THAT(sheets, HasSubstr("&lt;i&gt;round&lt;/i&gt;"));
  EXPECT_THAT(sheets, HasSubstr("Cluster 1"));
  EXPECT_THAT(sheets, HasSubstr("alt=\"2 images nearest to the mean of: Cluster 1\""));
}

TEST(ImageSheet, ImagesOfAnyShapeLieInTheMiddleOfTheirCells) {
  const MakeImage make_image = [](int64_t row, int max_side) {
    if (row == 2) return RasterImage();  // gone
    RasterImage image(row == 0 ? max_side : 10, row == 0 ? 20 : max_side, 3);
    std::fill(image.pixels.begin(), image.pixels.end(), static_cast<uint8_t>(100 + row));
    return image;
  };
  const std::vector<int64_t> rows = {0, 1, 2};
  const RasterImage sheet = make_image_sheet(make_image, rows, 2);
  EXPECT_EQ(sheet.channels, 4);
  const int side = (sheet.width - 4) / 2;
  EXPECT_EQ(sheet.height, 2 * side + 4);
  EXPECT_EQ(sheet.at(0, side / 2)[0], 100);
  EXPECT_EQ(sheet.at(0, 0)[3], 0);                           // above the wide one
  EXPECT_EQ(sheet.at(side + 4 + side / 2, 0)[0], 101);       // the tall one
  EXPECT_EQ(sheet.at(side / 2, side + 4 + side / 2)[3], 0);  // nothing
  const std::string sheets = render_sheets(
      make_image,
      make_cluster_figures({{.cluster = 0, .size = 3, .typical = rows, .least_sure = {}}}));
  EXPECT_THAT(find_markup_faults(sheets), IsEmpty());
}

TEST(ImageSheet, TooLargeImagesAreRefused) {
  const std::vector<int64_t> rows = {0};
  EXPECT_THROW(
      make_image_sheet([](int64_t, int side) { return RasterImage(side + 1, 1, 3); }, rows, 1),
      InvalidArgument);
}

}  // namespace
}  // namespace milieu

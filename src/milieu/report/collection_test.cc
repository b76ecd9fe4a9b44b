// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/collection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/data/file/read_below.h"
#include "milieu/linalg/pca.h"
#include "milieu/report/page_json.h"
#include "milieu/report/run_view.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Variances fall by a tenth from column to column, turned by nothing.
Matrix<float> spread_points(int64_t n, int64_t d) {
  Random random(3);
  Matrix<float> points(n, d);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < d; ++j)
      points(i, j) = static_cast<float>(random.normal() * (j == 0 ? 9 : j == 1 ? 5 : 1) + 3);
  return points;
}

TEST(PrincipalMap, WideDataGiveTheSamePlaneAsExactPca) {
  const Matrix<float> points = spread_points(500, 400);
  const std::vector<float> map = principal_map(points);
  const Matrix<float> exact = project(fit_pca(points, 2), points);
  for (int axis = 0; axis < 2; ++axis) {
    double dot = 0, a = 0, b = 0;
    for (int64_t i = 0; i < 500; ++i) {
      const double x = map[static_cast<size_t>(2 * i + axis)], y = exact(i, axis);
      dot += x * y, a += x * x, b += y * y;
    }
    EXPECT_GT(std::abs(dot) / std::sqrt(a * b), 0.999) << axis;
  }
}

TEST(PrincipalMap, OneRowAndEqualRowsStayFinite) {
  for (const int64_t n : {1, 5}) {
    Matrix<float> points(n, 3);
    std::fill_n(points.data(), points.size(), 2.F);
    for (const float value : principal_map(points)) EXPECT_TRUE(std::isfinite(value));
  }
}

// Of 320 images with room for 480, ten had no thumbnail.
TEST(PageData, EveryImageHasAThumbnailWhereThereIsRoom_issue24) {
  CollectionOptions options;
  options.data.points = Points(spread_points(320, 4));
  options.image_width = options.image_height = 2;
  const Collection collection(std::move(options));
  RunView view;
  view.columns.num_parts = 2;
  for (int32_t row = 0; row < 320; ++row) {
    view.columns.rows.push_back(row);
    view.columns.labels.push_back(row % 2);
  }
  complete_view(view, collection);
  internal::PageLimits limits;
  limits.max_row_images = 480;
  internal::Json data = internal::page_data({}, view, collection, limits);
  EXPECT_EQ(data["thumbs"]["rows_shown"].size(), 320U);
  limits.max_row_images = 100;
  data = internal::page_data({}, view, collection, limits);
  EXPECT_EQ(data["thumbs"]["rows_shown"].size(), 100U);
}

class ReadBelow : public ::testing::Test {
 protected:
  ReadBelow() {
    fs::create_directories(folder_.file("root/sub"));
    std::ofstream(folder_.file("root/sub/a.txt")) << "inside";
    std::ofstream(folder_.file("secret.txt")) << "outside";
    fs::create_symlink("../secret.txt", folder_.file("root/link.txt"));
    fs::create_symlink(folder_.file("secret.txt"), folder_.file("root/absolute.txt"));
    fs::create_symlink("..", folder_.file("root/up"));
    fs::create_symlink("sub/a.txt", folder_.file("root/within.txt"));
  }
  std::string read(const std::string& name) {
    const std::vector<uint8_t> bytes = read_below(folder_.file("root"), name);
    return {bytes.begin(), bytes.end()};
  }
  TempDir folder_;
};

TEST_F(ReadBelow, ReadsWhatIsInside) {
  EXPECT_EQ(read("sub/a.txt"), "inside");
  EXPECT_EQ(read("sub/../sub/a.txt"), "inside");
  EXPECT_EQ(read("within.txt"), "inside");
}

TEST_F(ReadBelow, NothingLeadsOut) {
  for (const std::string name : {"../secret.txt", "sub/../../secret.txt", "link.txt",
                                 "absolute.txt", "up/secret.txt", "/etc/passwd"})
    EXPECT_THAT([&] { read(name); }, ThrowsMessage<IoError>(HasSubstr("outside"))) << name;
  EXPECT_THROW(read("sub"), IoError);
  EXPECT_THROW(read("nothing"), IoError);
}

TEST(Thinned, IsEvenAndWithinItsLimit) {
  EXPECT_THAT(internal::thinned(5, 10), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(internal::thinned(10, 5), ElementsAre(0, 2, 4, 6, 8));
  EXPECT_TRUE(internal::thinned(10, 0).empty());
  EXPECT_TRUE(internal::thinned(0, 10).empty());
}

TEST(ReportPage, HoldsDataThatCannotEndTheirScript) {
  const std::string page = internal::page_around(
      "<html><head><title>T</title><style>p{}</style></head><body><p>still</p></body></html>",
      {{"name", "</script><script>alert(1)</script><!--"}});
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_THAT(page, HasSubstr("\\u003c/script>"));
  EXPECT_THAT(page, HasSubstr("<noscript><style>p{}</style><p>still</p></noscript>"));
  EXPECT_THAT(page, HasSubstr("<title>T</title>"));
  EXPECT_EQ(page.find("/assets/app"), std::string::npos);
}

}  // namespace
}  // namespace milieu

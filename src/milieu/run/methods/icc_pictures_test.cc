// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/methods/icc_pictures.h"

#include <gtest/gtest.h>

#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

// Width and height from the header of a PNG.
std::pair<int, int> size_of(const std::string& png) {
  const auto number = [&](size_t at) {
    int value = 0;
    for (size_t i = 0; i < 4; ++i) value = value * 256 + static_cast<unsigned char>(png[at + i]);
    return value;
  };
  return {number(16), number(20)};
}

TEST(IccPictures, EveryClassHasAPictureOnAndOffTheGrid) {
  const LabelledPoints data = make_blobs({.n = 150, .d = 4, .num_clusters = 3});
  for (const int dims : {1, 3})
    for (const IccClimb climb : {IccClimb::Basin, IccClimb::Free}) {
      IccOptions options;
      options.num_dims = dims;
      options.grid = "30";
      options.climb = climb;
      const IccResult result = fit_icc({data.points, data.labels, {}, {}}, options);
      const Matrix<double> places = project(result.model, data.points);
      for (int c = 0; c < 3; ++c) {
        const std::string png =
            render_icc_class({&result.model, places, result.labels, data.labels}, c);
        EXPECT_EQ(png.substr(1, 3), "PNG");
        EXPECT_EQ(size_of(png), std::make_pair(12 + 3 * 412, 442));
      }
    }
}

// It said "CLASS 0" whatever the class was called.
TEST(IccPictures, ThePanelHasTheNameOfTheClass_issue24) {
  const LabelledPoints data = make_blobs({.n = 60, .d = 2, .num_clusters = 2});
  const IccResult result = fit_icc({data.points, data.labels, {}, {}}, {});
  const Matrix<double> places = project(result.model, data.points);
  const auto picture = [&](const std::vector<std::string>& names) {
    return render_icc_class({&result.model, places, result.labels, data.labels, names}, 0);
  };
  EXPECT_NE(picture({"cats", "dogs"}), picture({"rats", "dogs"}));
  EXPECT_EQ(picture({"cats", "dogs"}), picture({"cats", "rats"}));
  EXPECT_EQ(picture({}), picture({"class 0", "class 1"}));
}

TEST(IccPictures, PanelsStandSideBySide) {
  const std::vector<int> classes = {0, 1, 0};
  const std::vector<ScatterPanel> panels = {{"PCA", Matrix<double>(3, 2)},
                                            {"LDA", Matrix<double>(3, 1)}};
  EXPECT_EQ(size_of(render_scatter_panels(panels, classes)), std::make_pair(12 + 2 * 412, 442));
}

}  // namespace
}  // namespace milieu

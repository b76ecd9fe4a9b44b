// SPDX-License-Identifier: Apache-2.0
// Inputs at the edge: classes of one point, constant features, grids and bandwidths that make no
// sense, models that do not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/icc/icc.h"
#include "milieu/icc/icc_classifier.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const LabelledPoints& blobs() {
  static const LabelledPoints data = make_blobs({.n = 120, .d = 4, .seed = 6});
  return data;
}

std::string refusal(const IccOptions& options) {
  return message_of([&] { fit_icc({blobs().points, blobs().labels, {}, {}}, options); });
}

TEST(IccEdge, GridsThatMakeNoSenseAreRefused) {
  IccOptions options;
  for (const char* grid : {"2", "100x2", "0", "-5", "ten", "", "100x", "1e3", "99999999"}) {
    options.grid = grid;
    EXPECT_THAT(refusal(options), HasSubstr(std::string("grid is '") + grid + "'")) << grid;
  }
  options.grid = "10x10x10";
  EXPECT_THAT(refusal(options), HasSubstr("must have 1 or 2 numbers"));
}

TEST(IccEdge, BandwidthsThatMakeNoSenseAreRefused) {
  IccOptions options;
  for (const char* bandwidth : {"0", "-0.1", "wide", "", "0.1,0", "nan", "inf", "0.1,0.1,0.1",
                                "8c,0.1", "1c,0c,0c,1c", "1,2,3,4", "1,2,2,1"}) {
    options.bandwidth = bandwidth;
    EXPECT_THAT(refusal(options), HasSubstr(std::string("bandwidth is '") + bandwidth + "'"));
  }
}

TEST(IccEdge, ComponentsThatDoNotExistAreRefused) {
  IccOptions options;
  for (const char* components : {"0,1", "1,1", "one", "1,", "-1", "1.5"}) {
    options.components = components;
    EXPECT_THAT(refusal(options), HasSubstr(std::string("components is '") + components + "'"));
  }
  options.components = "1,5";
  EXPECT_THAT(refusal(options), HasSubstr("components is '1,5', but there are 4 axes"));
  options.components = "1,2,3,4";
  EXPECT_THAT(refusal(options), HasSubstr("at most 3 on a grid"));
  options.projection = IccProjection::None;
  EXPECT_THAT(refusal(options), HasSubstr("at most 3 on a grid"));
}

TEST(IccEdge, GridAboveTheMemoryLimitIsRefusedWithTheEstimate) {
  IccOptions options;
  options.num_dims = 3;
  options.grid = "1000";
  EXPECT_THAT(refusal(options),
              HasSubstr("max_memory_gb is 4, a grid of 1000000000 cells for 3 classes "
                        "takes about 152 GB"));
  options.grid = "20";
  options.max_memory_gb = 0.0005;
  EXPECT_THAT(refusal(options), HasSubstr("max_memory_gb is 0.0005"));
  options.max_memory_gb = 0.01;
  EXPECT_NO_THROW(fit_icc({blobs().points, blobs().labels, {}, {}}, options));
}

TEST(IccEdge, MoreThanThreeDimensionsNeedTheFreeClimb) {
  IccOptions options;
  options.num_dims = 4;
  EXPECT_THAT(refusal(options), HasSubstr("num_dims is 4, must be at most 3"));
  options.num_dims = 2;
  options.projection = IccProjection::None;
  EXPECT_THAT(refusal(options), HasSubstr("climb free"));
  options.climb = IccClimb::Free;
  options.bandwidth = "8c";
  EXPECT_THAT(refusal(options), HasSubstr("must be fractions"));
}

TEST(IccEdge, ClassesThatDoNotFitAreRefused) {
  const Matrix<float>& points = blobs().points;
  std::vector<int> classes = blobs().labels;
  classes[3] = -2;
  EXPECT_THAT(message_of([&] {
                fit_icc({points, classes, {}, {}}, {});
              }),
              HasSubstr("row 3 has class -2"));
  classes[3] = 9;
  EXPECT_THAT(message_of([&] {
                fit_icc({points, classes, {}, {}}, {});
              }),
              HasSubstr("class 3 of 10 has no rows"));
  classes.assign(120, -1);
  EXPECT_THAT(message_of([&] { fit_icc({points, classes, {}, {}}, {}); }), HasSubstr("no row"));
  classes.pop_back();
  EXPECT_THAT(message_of([&] {
                fit_icc({points, classes, {}, {}}, {});
              }),
              HasSubstr("119 classes for 120 points"));
}

TEST(IccEdge, ProjectionsThatDoNotFitAreRefused) {
  const Matrix<float>& points = blobs().points;
  const Matrix<float> short_coordinates(119, 2), coordinates(120, 2);
  const Matrix<double> axes(2, 5), good_axes(2, 4);
  EXPECT_THAT(message_of([&] {
                fit_icc({points, {}, short_coordinates, {}}, {});
              }),
              HasSubstr("coordinates have 119 rows"));
  EXPECT_THAT(message_of([&] {
                fit_icc({points, {}, {}, axes}, {});
              }),
              HasSubstr("axes have 5 columns"));
  EXPECT_THAT(message_of([&] {
                fit_icc({points, {}, coordinates, good_axes}, {});
              }),
              HasSubstr("not both"));
  IccOptions options;
  options.projection = IccProjection::Lda;
  EXPECT_THAT(message_of([&] {
                fit_icc({points, {}, {}, {}}, options);
              }),
              HasSubstr("needs two classes"));
}

TEST(IccEdge, ClassOfOnePointStaysWhole) {
  std::vector<int> classes = blobs().labels;
  classes[7] = 3;
  for (const IccClimb climb : {IccClimb::Basin, IccClimb::Gradient, IccClimb::Free}) {
    IccOptions options;
    options.climb = climb;
    const IccResult result = fit_icc({blobs().points, classes, {}, {}}, options);
    EXPECT_EQ(result.model.subclasses[3], 1);
    EXPECT_EQ(result.labels[7], result.model.num_subclasses() - 1);
    if (climb != IccClimb::Free) {
      EXPECT_THAT(result.summary.warnings, ::testing::Contains(HasSubstr("class 3 has 1 sample")));
    }
  }
  EXPECT_NO_THROW(fit_icc_classifier({blobs().points, classes}, {}));
}

TEST(IccEdge, OneClassIsAsGoodAsNone) {
  const std::vector<int> classes(120, 0);
  EXPECT_EQ(fit_icc({blobs().points, classes, {}, {}}, {}).labels,
            fit_icc({blobs().points, {}, {}, {}}, {}).labels);
  const IccClassifierResult one = fit_icc_classifier({blobs().points, classes}, {});
  EXPECT_THAT(one.labels, Each(0));
}

TEST(IccEdge, ConstantFeaturesAndOneColumn) {
  Matrix<float> constant(120, 5);
  for (int64_t i = 0; i < 120; ++i) std::copy_n(blobs().points.row(i), 4, constant.row(i));
  IccOptions options;
  options.standardize = true;
  EXPECT_NO_THROW(fit_icc({constant, blobs().labels, {}, {}}, options));
  EXPECT_NO_THROW(fit_icc_classifier({constant, blobs().labels}, {}));
  const FloatView column(blobs().points.data(), 120, 1, 4);
  const IccResult line = fit_icc({column, blobs().labels, {}, {}}, {});
  EXPECT_EQ(line.model.axes.rows(), 1);
  EXPECT_THAT(line.model.grid, ElementsAre(100));
}

TEST(IccEdge, StandardizedUnitsDoNotMatter) {
  Matrix<float> scaled = blobs().points;
  for (int64_t i = 0; i < 120; ++i) scaled(i, 2) *= 4096;
  IccOptions options;
  options.standardize = true;
  EXPECT_EQ(fit_icc({scaled, blobs().labels, {}, {}}, options).labels,
            fit_icc({blobs().points, blobs().labels, {}, {}}, options).labels);
}

TEST(IccEdge, OutlierThatStretchesTheFrameIsAWarning) {
  Matrix<float> points(201, 2);
  const LabelledPoints cloud = make_blobs({.n = 200, .d = 2});
  std::copy_n(cloud.points.data(), 400, points.data());
  points(200, 0) = points(200, 1) = 1e5f;
  const IccResult result = fit_icc({points, {}, {}, {}}, {});
  EXPECT_THAT(result.summary.warnings, ::testing::Contains(HasSubstr("outliers stretch")));
}

TEST(IccEdge, NarrowKernelIsAWarning) {
  IccOptions options;
  options.bandwidth = "0.005";
  const IccResult result = fit_icc({blobs().points, {}, {}, {}}, options);
  EXPECT_THAT(result.summary.warnings, ::testing::Contains(HasSubstr("cells wide")));
}

TEST(IccEdge, StreamRefusesWhatItCannotDo) {
  const IccSource source{[](const IccChunkVisitor&) {}, 1, 4};
  IccOptions options;
  EXPECT_THAT(message_of([&] { fit_icc_stream(source, options); }), HasSubstr("no points"));
  options.projection = IccProjection::Lda;
  EXPECT_THAT(message_of([&] { fit_icc_stream(source, options); }), HasSubstr("streamed"));
  options.projection = IccProjection::None;
  EXPECT_THAT(message_of([&] { fit_icc_stream(source, options); }), HasSubstr("num_dims is 4"));
}

TEST(IccEdge, ModelsThatDoNotFitAreRefused) {
  const IccModel model = fit_icc({blobs().points, blobs().labels, {}, {}}, {}).model;
  const auto refused = [&](auto change) {
    IccModel broken = model;
    change(broken);
    EXPECT_THROW(predict(broken, blobs().points), DataError);
  };
  refused([](IccModel& m) { m.cell_labels.pop_back(); });
  refused([](IccModel& m) { m.cell_labels[5] = 77; });
  refused([](IccModel& m) { m.grid[0] = 0; });
  refused([](IccModel& m) { m.high[0] = m.low[0]; });
  refused([](IccModel& m) { m.subclasses.clear(); });
  refused([](IccModel& m) { m.reach = 4; });
  const std::vector<int> unknown(120, 8);
  EXPECT_THAT(message_of([&] { predict(model, blobs().points, unknown); }),
              HasSubstr("class 8 is unknown"));
}

}  // namespace
}  // namespace milieu

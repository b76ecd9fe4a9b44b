// SPDX-License-Identifier: Apache-2.0
// ICC as its users see it: the golden cases of the method note, modes, bad input.
#include "milieu/icc/icc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/icc/icc_examples.h"
#include "milieu/icc/icc_split_internal.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using internal::IccExample;
using internal::make_icc_experiment1;
using internal::make_icc_figure7;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

IccOptions paper_scale(const std::string& grid, const std::string& bandwidth, double window,
                       int min_size = 10) {
  IccOptions options;
  options.grid = grid;
  options.bandwidth = bandwidth;
  options.window = window;
  options.min_size = min_size;
  return options;
}

IccExample figure7() {
  Lcg lcg(1);
  return make_icc_figure7(lcg, 1000);
}
IccExample experiment1() {
  Lcg lcg(1);
  IccExample data = make_icc_experiment1(lcg, 700);
  return data;
}

template <class T>
T extra(const RunSummary& summary, const std::string& name) {
  for (const auto& [key, value] : summary.extra)
    if (key == name) return std::get<T>(value);
  ADD_FAILURE() << name << " is not in the summary";
  return {};
}

double largest(const IccModel& model, int c) {
  return *std::ranges::max_element(model.maps.row_span(c));
}

TEST(Icc, GoldenNineByNine) {
  Matrix<float> points(16, 2);
  const float cells[16][2] = {{1, 4}, {1, 4}, {1, 4}, {2, 4}, {2, 4}, {6, 4}, {6, 4}, {7, 5},
                              {7, 5}, {7, 5}, {4, 4}, {4, 4}, {4, 4}, {4, 4}, {4, 5}, {4, 5}};
  for (int i = 0; i < 16; ++i) std::copy_n(cells[i], 2, points.row(i));
  std::vector<int> classes(16, 0);
  std::fill(classes.begin() + 10, classes.end(), 1);
  // The frame of the samples is cells 1..7 x 4..5; a corner of class -1 at each end makes it 0..8.
  Matrix<float> framed(18, 2);
  std::copy_n(points.data(), 32, framed.data());
  framed(17, 0) = framed(17, 1) = 8;
  classes.insert(classes.end(), 2, -1);
  IccOptions options = paper_scale("9", "1c", 6, 1);
  options.projection = IccProjection::None;
  const IccResult result = fit_icc({framed, classes, {}, {}}, options);
  EXPECT_THAT(result.model.subclasses, ElementsAre(2, 1));
  EXPECT_THAT(std::vector<int>(result.labels.begin(), result.labels.begin() + 10),
              ElementsAre(0, 0, 0, 0, 0, 1, 1, 1, 1, 1));
  EXPECT_NEAR(result.model.heights[0], .661671, 1e-6);
  EXPECT_NEAR(result.model.heights[1], .587057, 1e-6);
  EXPECT_EQ(result.model.maxima(0, 0), 1);
  EXPECT_EQ(result.model.maxima(0, 1), 4);
  EXPECT_EQ(result.model.maxima(1, 0), 7);
  EXPECT_EQ(result.model.maxima(1, 1), 5);
}

TEST(Icc, GoldenFigure7) {
  const IccExample data = figure7();
  const IccResult result =
      fit_icc({data.points, data.classes, {}, {}}, paper_scale("100", "8c", 6.25));
  EXPECT_NEAR(result.model.axes(0, 0), .999008, 1e-6);
  EXPECT_NEAR(result.model.axes(0, 1), -.044542, 1e-6);
  EXPECT_THAT(result.model.subclasses, ElementsAre(3, 2));
  EXPECT_THAT(result.summary.sizes, ElementsAre(20, 562, 18, 200, 200));
  EXPECT_NEAR(largest(result.model, 0), .450054, 1e-6);
  EXPECT_NEAR(largest(result.model, 1), .163364, 1e-6);
  const auto peak = std::ranges::max_element(result.model.maps.row_span(0)) -
                    result.model.maps.row_span(0).begin();
  EXPECT_EQ(peak, 45 * 100 + 43);
}

TEST(Icc, GoldenFigure7WithAWiderKernel) {
  const IccExample data = figure7();
  const IccResult result =
      fit_icc({data.points, data.classes, {}, {}}, paper_scale("100", "12.5c", 4, 1));
  EXPECT_THAT(result.summary.sizes, ElementsAre(6, 585, 9, 200, 200));
  EXPECT_NEAR(largest(result.model, 0), .252283, 1e-6);
  EXPECT_NEAR(largest(result.model, 1), .060969, 1e-6);
}

TEST(Icc, GoldenFigure7WithoutContext) {
  const IccExample data = figure7();
  const IccOptions options = paper_scale("100", "8c", 6.25);
  // The frame stays that of all samples; rows without a class are not context.
  for (int own = 0; own < 2; ++own) {
    std::vector<int> classes(1000, -1);
    for (int i = 0; i < 1000; ++i)
      if (data.classes[i] == own) classes[i] = 0;
    const IccResult result = fit_icc({data.points, classes, {}, {}}, options);
    EXPECT_THAT(result.model.subclasses, ElementsAre(own == 0 ? 1 : 2));
  }
}

TEST(Icc, GoldenExperiment1) {
  const IccExample data = experiment1();
  const FloatView train = data.points.view().rows_between(0, 650);
  const std::span<const int> classes(data.classes.data(), 650);
  double sum = 0;
  for (const float value : std::span(data.points.data(), data.points.size())) sum += value;
  EXPECT_NEAR(sum, 89028.931540, 1e-3);
  const IccResult wide = fit_icc({train, classes, {}, {}}, paper_scale("600x200", "25c", 8));
  EXPECT_THAT(wide.summary.sizes, ElementsAre(114, 103, 97, 120, 216));
  EXPECT_THAT(wide.model.subclasses, ElementsAre(2, 2, 1));
  EXPECT_THAT(fit_icc({train, classes, {}, {}}, paper_scale("600x200", "25c", 6)).model.subclasses,
              ElementsAre(3, 2, 1));
  EXPECT_THAT(
      fit_icc({train, classes, {}, {}}, paper_scale("600x200", "25c", 4, 1)).model.subclasses,
      ElementsAre(17, 13, 1));
  EXPECT_THAT(fit_icc({train, classes, {}, {}}, paper_scale("100", "8c", 8, 20)).summary.sizes,
              ElementsAre(124, 93, 103, 114, 216));
}

TEST(Icc, ObjectEqualToContextIsOneSubclass) {
  const LabelledPoints blobs = make_blobs({.n = 60, .d = 2});
  Matrix<float> points(120, 2);
  std::vector<int> classes(120);
  for (int i = 0; i < 120; ++i) {
    std::copy_n(blobs.points.row(i / 2), 2, points.row(i));
    classes[i] = i % 2;
  }
  const IccResult result = fit_icc({points, classes, {}, {}}, {});
  EXPECT_THAT(result.model.subclasses, ElementsAre(1, 1));
}

TEST(Icc, CoincidentPointsAreOneSubclass) {
  const Matrix<float> points(5, 3);
  EXPECT_EQ(fit_icc({points, {}, {}, {}}, {}).labels, std::vector<int>(5, 0));
}

// The context in the middle separates the ends of one class.
TEST(Icc, ContextInBetweenSplitsAClass) {
  Random random(4);
  Matrix<float> points(900, 2);
  std::vector<int> classes(900);
  for (int i = 0; i < 900; ++i) {
    classes[i] = i % 3 == 2;
    points(i, 0) = static_cast<float>((classes[i] ? 0.7 : 4) * random.normal());
    points(i, 1) = static_cast<float>((classes[i] ? 4 : 1) * random.normal());
  }
  IccOptions options;
  options.bandwidth = "0.08";
  const IccResult with = fit_icc({points, classes, {}, {}}, options);
  EXPECT_EQ(with.model.subclasses[0], 2);
  std::vector<int> alone(900, -1);
  for (int i = 0; i < 900; ++i)
    if (classes[i] == 0) alone[i] = 0;
  EXPECT_THAT(fit_icc({points, alone, {}, {}}, options).model.subclasses, ElementsAre(1));
}

TEST(Icc, GradientAscentFindsTheSubclassesOfTheBasins) {
  const IccExample data = figure7();
  IccOptions options = paper_scale("100", "8c", 6.25);
  const IccResult basins = fit_icc({data.points, data.classes, {}, {}}, options);
  options.climb = IccClimb::Gradient;
  const IccResult ascent = fit_icc({data.points, data.classes, {}, {}}, options);
  EXPECT_EQ(ascent.model.subclasses, basins.model.subclasses);
  int same = 0;
  for (size_t i = 0; i < 1000; ++i) same += ascent.labels[i] == basins.labels[i];
  EXPECT_GT(same, 960);
}

TEST(Icc, BandwidthIsANumberOneAnAxisOrAMatrix) {
  const IccExample data = figure7();
  const auto fit = [&](const std::string& bandwidth) {
    IccOptions options;
    options.bandwidth = bandwidth;
    return fit_icc({data.points, data.classes, {}, {}}, options);
  };
  const IccResult one = fit("0.08"), axes = fit("0.08,0.08"), cells = fit("8c");
  EXPECT_EQ(one.labels, axes.labels);
  EXPECT_EQ(one.labels, cells.labels);
  EXPECT_NE(one.labels, fit("0.08,0.02").labels);
  // A diagonal matrix is one number per axis up to the order of the axes.
  const IccResult matrix = fit("0.0064,0,0,0.0064");
  EXPECT_EQ(matrix.model.subclasses, one.model.subclasses);
  EXPECT_EQ(fit("0.0064,0.003,0.003,0.0064").labels.size(), 1000u);
}

TEST(Icc, ThreeDimensions) {
  const LabelledPoints blobs =
      make_blobs({.n = 400, .d = 5, .num_clusters = 4, .separation = 14, .seed = 2});
  IccOptions options;
  options.num_dims = 3;
  options.grid = "40";
  const IccResult result = fit_icc({blobs.points, {}, {}, {}}, options);
  EXPECT_THAT(result.labels, IsSamePartitionAs(blobs.labels));
}

TEST(Icc, FreeClimbFindsBlobsInAllDimensions) {
  const LabelledPoints blobs =
      make_blobs({.n = 300, .d = 6, .num_clusters = 4, .separation = 12, .seed = 3});
  IccOptions options;
  options.climb = IccClimb::Free;
  options.projection = IccProjection::None;
  options.bandwidth = "0.15";
  const IccResult result = fit_icc({blobs.points, {}, {}, {}}, options);
  EXPECT_THAT(result.labels, IsSamePartitionAs(blobs.labels));
  EXPECT_EQ(predict(result.model, blobs.points), result.labels);
}

TEST(Icc, FreeClimbAgreesWithTheGridInThePlane) {
  const IccExample data = figure7();
  IccOptions options = paper_scale("200", "0.08", 8);
  const IccResult grid = fit_icc({data.points, data.classes, {}, {}}, options);
  options.climb = IccClimb::Free;
  const IccResult free = fit_icc({data.points, data.classes, {}, {}}, options);
  EXPECT_EQ(free.model.subclasses, grid.model.subclasses);
  std::set<std::pair<int, int>> pairs;
  int most = 0;
  std::vector<std::vector<int>> table(5, std::vector<int>(5, 0));
  for (int i = 0; i < 1000; ++i) ++table[grid.labels[i]][free.labels[i]];
  for (const auto& row : table) most += *std::ranges::max_element(row);
  EXPECT_GT(most, 970);
}

TEST(Icc, LdaAxesAndGivenProjections) {
  const LabelledPoints blobs = make_blobs({.n = 200, .d = 6, .num_clusters = 4, .separation = 10});
  IccOptions options;
  options.projection = IccProjection::Lda;
  const IccResult lda = fit_icc({blobs.points, blobs.labels, {}, {}}, options);
  EXPECT_EQ(lda.model.axes.rows(), 2);
  const Matrix<double> axes = lda.model.axes;
  const IccResult given = fit_icc({blobs.points, blobs.labels, {}, axes}, {});
  EXPECT_EQ(given.labels, lda.labels);
  Matrix<float> coordinates(200, 2);
  const Matrix<double> y = project(lda.model, blobs.points);
  std::copy_n(y.data(), y.size(), coordinates.data());
  EXPECT_EQ(fit_icc({blobs.points, blobs.labels, coordinates, {}}, {}).labels, lda.labels);
}

TEST(Icc, ComponentsPickTheAxes) {
  const LabelledPoints blobs = make_blobs({.n = 200, .d = 6, .num_clusters = 4, .separation = 10});
  for (const IccProjection projection :
       {IccProjection::Pca, IccProjection::Lda, IccProjection::None}) {
    IccOptions options;
    options.projection = projection;
    options.components = "3,1";
    const IccModel some = fit_icc({blobs.points, blobs.labels, {}, {}}, options).model;
    options.components = "1,2,3";
    options.grid = "20";
    const IccModel all = fit_icc({blobs.points, blobs.labels, {}, {}}, options).model;
    ASSERT_EQ(some.axes.rows(), 2);
    for (int64_t j = 0; j < 6; ++j) {
      EXPECT_EQ(some.axes(0, j), all.axes(2, j));
      EXPECT_EQ(some.axes(1, j), all.axes(0, j));
    }
    EXPECT_EQ(some.origin[0], all.origin[2]);
  }
}

TEST(Icc, UnknownClassesTakeTheClassOfTheirPlace) {
  const LabelledPoints blobs = make_blobs({.n = 200, .d = 2, .num_clusters = 2, .separation = 12});
  std::vector<int> classes = blobs.labels;
  for (int i = 0; i < 200; i += 5) classes[i] = -1;
  IccOptions options;
  options.bandwidth = "0.2";
  const IccResult result = fit_icc({blobs.points, classes, {}, {}}, options);
  EXPECT_EQ(result.labels, blobs.labels);
  EXPECT_EQ(predict(result.model, blobs.points), blobs.labels);
  Matrix<float> outside(1, 2);
  outside(0, 0) = 1e6f;
  EXPECT_EQ(predict(result.model, outside).size(), 1u);
}

TEST(Icc, StreamedChunksGiveTheSameModel) {
  const IccExample data = figure7();
  const IccResult whole = fit_icc({data.points, data.classes, {}, {}}, {});
  const IccSource source{[&](const IccChunkVisitor& visit) {
                           for (int64_t i = 0; i < 1000; i += 170) {
                             const int64_t end = std::min<int64_t>(1000, i + 170);
                             visit(data.points.view().rows_between(i, end),
                                   std::span(data.classes).subspan(i, end - i));
                           }
                         },
                         2, 2};
  const IccResult streamed = fit_icc_stream(source, {});
  EXPECT_EQ(streamed.model.cell_labels, whole.model.cell_labels);
  EXPECT_EQ(streamed.summary.sizes, whole.summary.sizes);
  EXPECT_EQ(streamed.summary.n, 1000);
  IccOptions turned;
  turned.components = "2,1";
  EXPECT_EQ(fit_icc_stream(source, turned).model.cell_labels,
            fit_icc({data.points, data.classes, {}, {}}, turned).model.cell_labels);
}

// Two classes by count take one filter; as two densities they are filtered apart.
TEST(Icc, TwoClassesAreEachOthersContext) {
  Random random(8);
  internal::SplitSettings settings;
  settings.grid = Grid{{30, 41}};
  settings.sigmas = {2.5, 4};
  internal::ClassCounts counts(2, std::vector<double>(30 * 41, 0.0));
  for (int i = 0; i < 400; ++i) ++counts[i % 3 == 0][random.uniform_index(30 * 41)];
  const std::vector<std::vector<double>> maps = internal::class_maps(counts, settings);
  const std::vector<double> own = smooth_counts(counts[0], settings.grid, settings.sigmas, 8);
  const std::vector<double> other = smooth_counts(counts[1], settings.grid, settings.sigmas, 8);
  for (size_t cell = 0; cell < own.size(); ++cell) {
    ASSERT_NEAR(maps[0][cell], own[cell] - other[cell], 1e-13);
    ASSERT_EQ(maps[1][cell], -maps[0][cell]);
  }
}

TEST(Icc, BootstrapSeparatesModesFromNoise) {
  Lcg lcg(3);
  const IccExample data = make_icc_figure7(lcg, 3000);
  IccOptions options = paper_scale("100", "8c", 8);
  options.bootstrap = 30;
  const IccResult sure = fit_icc({data.points, data.classes, {}, {}}, options);
  ASSERT_THAT(sure.model.subclasses, ElementsAre(3, 2));
  for (const double share : extra<std::vector<double>>(sure.summary, "survival"))
    EXPECT_GT(share, 0.9);
  const auto fewest = extra<std::vector<int64_t>>(sure.summary, "fewest_subclasses");
  const auto most = extra<std::vector<int64_t>>(sure.summary, "most_subclasses");
  EXPECT_LE(fewest[0], 3);
  EXPECT_GE(most[0], 3);
  EXPECT_LE(most[0] - fewest[0], 2);
  options = paper_scale("100", "1.5c", 8, 2);
  options.bootstrap = 30;
  const IccResult noisy = fit_icc({data.points, data.classes, {}, {}}, options);
  const auto survival = extra<std::vector<double>>(noisy.summary, "survival");
  EXPECT_GT(survival.size(), 20u);
  EXPECT_LT(*std::ranges::min_element(survival), 0.7);
  EXPECT_EQ(extra<std::vector<double>>(noisy.summary, "noise").size(), survival.size());
  EXPECT_GT(extra<std::vector<int64_t>>(noisy.summary, "most_subclasses")[0],
            extra<std::vector<int64_t>>(noisy.summary, "fewest_subclasses")[0]);
}

TEST(Icc, AutoBandwidthFindsThreeAndTwo) {
  Lcg lcg(5);
  const IccExample data = make_icc_figure7(lcg, 3000);
  IccOptions options;
  options.bandwidth = "auto";
  EXPECT_THAT(fit_icc({data.points, data.classes, {}, {}}, options).model.subclasses,
              ElementsAre(3, 2));
}

}  // namespace
}  // namespace milieu

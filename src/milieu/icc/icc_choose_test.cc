// SPDX-License-Identifier: Apache-2.0
// What --auto chooses, and the options that it chooses among.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/icc/icc_choose_internal.h"
#include "milieu/icc/icc_classifier.h"
#include "milieu/icc/icc_classifier_internal.h"
#include "milieu/icc/icc_examples.h"
#include "milieu/linalg/pca.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

using internal::IccExample;
using internal::make_icc_experiment1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Experiment1 {
  IccExample data;
  Experiment1() {
    Lcg lcg(1);
    data = make_icc_experiment1(lcg, 700);
  }
  IccClassifierInput train() const {
    return {data.points.view().rows_between(0, 650), std::span(data.classes).first(650)};
  }
};

double test_accuracy(const IccClassifierInput& train, FloatView test, std::span<const int> classes,
                     const IccClassifierOptions& options) {
  return internal::accuracy_of(predict(fit_icc_classifier(train, options).model, test), classes);
}

// On 2,000 samples that are not in the training set: --auto against what it may choose from.
TEST(IccChoice, AutoIsNeverBehindWholeClassesIccOrMixtures_issue27) {
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    Lcg lcg(seed);
    const IccExample data = make_icc_experiment1(lcg, 2600);
    const IccClassifierInput train{data.points.view().rows_between(0, 600),
                                   std::span(data.classes).first(600)};
    const FloatView test = data.points.view().rows_between(600, 2600);
    const std::span<const int> truth = std::span(data.classes).subspan(600);
    IccClassifierOptions options;
    options.automatic = true;
    const IccClassifierResult result = fit_icc_classifier(train, options);
    bool has_choice = false;
    for (const auto& [name, value] : result.summary.extra) has_choice |= name == "chosen";
    EXPECT_TRUE(has_choice);
    const double automatic = internal::accuracy_of(predict(result.model, test), truth);
    options.automatic = false;
    for (const IccSplit split : {IccSplit::None, IccSplit::Icc, IccSplit::Em})
      for (const IccReduce reduce : {IccReduce::Lda, IccReduce::Pca}) {
        options.split = split;
        options.reduce = reduce;
        EXPECT_GE(automatic, test_accuracy(train, test, truth, options) - 0.005)
            << seed << " " << static_cast<int>(split) << " " << static_cast<int>(reduce);
      }
  }
}

// Every group has its own place for each class: rows of a known group are easy to classify,
// those of a new group are not.
// Two round classes of equal width and few samples in many dimensions: their own covariances are
// noise, the pooled one is not.
TEST(IccChoice, AutoDrawsNoisyCovariancesToThePooledOne) {
  Random random(6);
  Matrix<float> points(60, 12);
  std::vector<int> classes(60);
  for (int i = 0; i < 60; ++i) {
    classes[i] = i % 2;
    for (int j = 0; j < 12; ++j)
      points(i, j) = static_cast<float>(random.normal() + (j == 0 ? 2 * classes[i] : 0));
  }
  IccClassifierOptions options;
  options.split = IccSplit::None;
  options.reduce = IccReduce::None;
  const IccClassifierChoice choice = choose_icc_options({points, classes}, options);
  EXPECT_GT(choice.options.shrinkage, options.shrinkage) << choice.text;
  EXPECT_THAT(choice.text, HasSubstr("pooled covariance"));
}

TEST(IccChoice, AutoKeepsGroupsTogether) {
  Random random(4);
  Matrix<float> points(600, 2);
  std::vector<int> classes(600), groups(600);
  for (int g = 0; g < 20; ++g)
    for (int c = 0; c < 2; ++c) {
      const double x = 100 * random.uniform(), y = 100 * random.uniform();
      for (int r = 0; r < 15; ++r) {
        const int i = 30 * g + 15 * c + r;
        classes[i] = c;
        groups[i] = g;
        points(i, 0) = static_cast<float>(x + random.normal());
        points(i, 1) = static_cast<float>(y + random.normal());
      }
    }
  const IccClassifierChoice alone = choose_icc_options({points, classes}, {});
  const IccClassifierChoice together = choose_icc_options({points, classes, groups}, {});
  EXPECT_GT(alone.accuracy, 0.8);
  EXPECT_LT(together.accuracy, 0.7);
}

// The classes differ on the third principal axis only, and have two parts each there: mixtures find
// them without a search, ICC in a plane with one.
TEST(IccChoice, AutoFindsPartsOnTheThirdAxis) {
  Random random(5);
  Matrix<float> points(800, 3);
  std::vector<int> classes(800);
  for (int i = 0; i < 800; ++i) {
    classes[i] = i % 2;
    points(i, 0) = static_cast<float>(90 * random.uniform());
    points(i, 1) = static_cast<float>(60 * random.uniform());
    points(i, 2) = static_cast<float>(8 * (i % 4) + random.normal());
  }
  EXPECT_GT(choose_icc_options({points, classes}, {}).accuracy, 0.95);
  IccClassifierOptions options;
  options.search_axes = true;
  int with_third = 0;
  for (const internal::Candidate& candidate :
       internal::candidates_of({points, classes}, options, 3))
    with_third += candidate.options.icc.components == "2,3";
  EXPECT_GT(with_third, 0);
  options.icc.components = "2,3";
  options.icc.bandwidth = "0.05";
  options.reduce = IccReduce::None;
  EXPECT_GT(fit_icc_classifier({points, classes}, options).summary.objective, 0.95);
}

// Twenty columns of which the classes differ in most: the two axes of 0.1.0 hold little of it.
TEST(IccChoice, PcaWithoutANumberKeepsEnoughAxes_issue27) {
  Random random(8);
  Matrix<float> points(900, 20);
  std::vector<int> classes(900);
  Matrix<double> centres(9, 20);
  for (double& value : std::span(centres.data(), centres.size())) value = 1.5 * random.normal();
  for (int i = 0; i < 900; ++i) {
    classes[i] = i % 9;
    for (int j = 0; j < 20; ++j)
      points(i, j) = static_cast<float>(centres(i % 9, j) + random.normal());
  }
  const IccClassifierInput train{points.view().rows_between(0, 600), std::span(classes).first(600)};
  IccClassifierOptions options;
  options.split = IccSplit::None;
  options.reduce = IccReduce::Pca;
  EXPECT_GT(test_accuracy(train, points.view().rows_between(600, 900),
                          std::span(classes).subspan(600), options),
            0.95);
  options.reduce_dims = 2;
  EXPECT_LT(test_accuracy(train, points.view().rows_between(600, 900),
                          std::span(classes).subspan(600), options),
            0.75);
}

// Both classes have two parts in a plane that hides between louder axes; components per class.
TEST(IccChoice, MixturesTakeOneCountPerClass) {
  const Experiment1 experiment;
  IccClassifierOptions options;
  options.split = IccSplit::Em;
  options.em_count = "1,3,2";
  options.icc.num_dims = 5;
  const Subclasses found = find_subclasses(experiment.train(), options);
  EXPECT_THAT(found.num_subclasses, ElementsAre(1, 3, 2));
  options.em_count = "1,3";
  EXPECT_THROW(find_subclasses(experiment.train(), options), InvalidArgument);
  options.em_count = "1,,2";
  EXPECT_THROW(find_subclasses(experiment.train(), options), InvalidArgument);
}

// A model of reduced samples takes samples as they are, and reducing changes little here.
TEST(IccChoice, PrincipalAxesBeforeEverythingElseAreInTheModel) {
  const Experiment1 experiment;
  IccClassifierOptions options;
  options.pca_dims = 12;
  const IccClassifierModel model = fit_icc_classifier(experiment.train(), options).model;
  EXPECT_EQ(model.axes.cols(), 30);
  const FloatView test = experiment.data.points.view().rows_between(650, 700);
  const Pca pca = fit_pca(experiment.train().points, 12);
  const Matrix<float> reduced = project(pca, experiment.train().points);
  options.pca_dims = 0;
  const IccClassifierModel direct =
      fit_icc_classifier({reduced, experiment.train().classes}, options).model;
  EXPECT_EQ(predict(model, test), predict(direct, project(pca, test)));
}

TEST(IccChoice, APlaneOfManyColumnsIsWarnedOf_issue27) {
  const Experiment1 experiment;
  IccClassifierOptions options;
  EXPECT_THAT(fit_icc_classifier(experiment.train(), options).summary.warnings,
              ElementsAre(HasSubstr("2 dimensions of 30 columns: --auto")));
  options.automatic = true;
  EXPECT_TRUE(fit_icc_classifier(experiment.train(), options).summary.warnings.empty());
}

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// The classifier of Algorithm 4, its choice by cross-validation and the comparison tables.
#include "milieu/icc/icc_classifier.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stop_token>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/icc/icc_choose_internal.h"
#include "milieu/icc/icc_classifier_internal.h"
#include "milieu/icc/icc_compare.h"
#include "milieu/icc/icc_examples.h"
#include "milieu/linalg/pca.h"
#include "milieu/testing/matchers.h"
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
  int num_right(const IccClassifierOptions& options) const {
    const IccClassifierModel model = fit_icc_classifier(train(), options).model;
    const std::vector<int> predicted = predict(model, data.points.view().rows_between(650, 700));
    int right = 0;
    for (int i = 0; i < 50; ++i) right += predicted[i] == data.classes[650 + i];
    return right;
  }
};

// The counts of the note are those of plain covariances and the paper's own rule.
TEST(IccClassifier, GoldenExperiment1) {
  const Experiment1 experiment;
  IccClassifierOptions plain;
  plain.shrinkage = 0;
  plain.rule = IccRule::Best;
  IccClassifierOptions options = plain;
  options.split = IccSplit::None;
  EXPECT_EQ(experiment.num_right(options), 36);  // LDA
  options.reduce = IccReduce::Pca;
  EXPECT_EQ(experiment.num_right(options), 39);  // PCA, two dimensions
  options = plain;
  options.icc.grid = "600x200";
  options.icc.bandwidth = "25c";
  EXPECT_EQ(experiment.num_right(options), 42);
  options.icc.window = 4;
  options.icc.min_size = 1;
  EXPECT_EQ(experiment.num_right(options), 40);
  options = plain;
  options.icc.bandwidth = "8c";
  options.icc.min_size = 20;
  EXPECT_EQ(experiment.num_right(options), 43);
}

TEST(IccClassifier, MixturesSplitClassesInstead) {
  const Experiment1 experiment;
  IccClassifierOptions options;
  options.split = IccSplit::Em;
  for (const GmmInit init : {GmmInit::KMeans, GmmInit::Random}) {
    options.init = init;
    const Subclasses parts = find_subclasses(experiment.train(), options);
    EXPECT_THAT(parts.num_subclasses, ElementsAre(2, 2, 2));
    for (int i = 0; i < 650; ++i)
      ASSERT_EQ(parts.class_from_subclass[parts.labels[i]], experiment.data.classes[i]);
  }
  options.em_count = "icc";
  options.icc.bandwidth = "8c";
  const auto icc =
      fit_icc({experiment.train().points, experiment.train().classes, {}, {}}, options.icc);
  const Subclasses as_icc = find_subclasses(experiment.train(), options);
  for (int c = 0; c < 3; ++c) EXPECT_LE(as_icc.num_subclasses[c], icc.model.subclasses[c]);
  options.em_count = "many";
  EXPECT_THAT(message_of([&] { find_subclasses(experiment.train(), options); }),
              HasSubstr("em_count is 'many'"));
}

double test_accuracy(const IccClassifierInput& train, FloatView test, std::span<const int> classes,
                     const IccClassifierOptions& options) {
  return internal::accuracy_of(predict(fit_icc_classifier(train, options).model, test), classes);
}

// On 2,000 samples that are not in the training set: --auto against what it may choose from.
TEST(IccClassifier, AutoIsNeverBehindWholeClassesIccOrMixtures_issue27) {
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

// Twenty columns of which the classes differ in most: the two axes of 0.1.0 hold little of it.
TEST(IccClassifier, PcaWithoutANumberKeepsEnoughAxes_issue27) {
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
TEST(IccClassifier, MixturesTakeOneCountPerClass) {
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

TEST(IccClassifier, APlaneOfManyColumnsIsWarnedOf_issue27) {
  const Experiment1 experiment;
  IccClassifierOptions options;
  EXPECT_THAT(fit_icc_classifier(experiment.train(), options).summary.warnings,
              ElementsAre(HasSubstr("2 dimensions of 30 columns: --auto")));
  options.automatic = true;
  EXPECT_TRUE(fit_icc_classifier(experiment.train(), options).summary.warnings.empty());
}

// A model of reduced samples takes samples as they are, and reducing changes little here.
TEST(IccClassifier, PrincipalAxesBeforeEverythingElseAreInTheModel) {
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

// Every group has its own place for each class: rows of a known group are easy to classify,
// those of a new group are not.
// Two round classes of equal width and few samples in many dimensions: their own covariances are
// noise, the pooled one is not.
TEST(IccClassifier, AutoDrawsNoisyCovariancesToThePooledOne) {
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

TEST(IccClassifier, AutoKeepsGroupsTogether) {
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
TEST(IccClassifier, AutoFindsPartsOnTheThirdAxis) {
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

TEST(IccClassifier, RefiningMovesSamplesWithinTheirClass) {
  const Experiment1 experiment;
  IccClassifierOptions options;
  options.icc.bandwidth = "0.06";
  const Subclasses plain = find_subclasses(experiment.train(), options);
  options.refine = 10;
  const Subclasses refined = find_subclasses(experiment.train(), options);
  int moved = 0;
  for (size_t i = 0; i < plain.labels.size(); ++i) {
    EXPECT_EQ(refined.class_from_subclass[refined.labels[i]],
              plain.class_from_subclass[plain.labels[i]]);
    moved += refined.labels[i] != plain.labels[i];
  }
  EXPECT_GT(moved, 0);
  EXPECT_LT(moved, 200);
  std::vector<int> used(refined.class_from_subclass.size(), 0);
  for (const int label : refined.labels) used[label] = 1;
  EXPECT_THAT(used, ::testing::Each(1));
  EXPECT_GE(experiment.num_right(options), 40);
  options.split = IccSplit::None;
  EXPECT_EQ(find_subclasses(experiment.train(), options).labels,
            std::vector<int>(experiment.train().classes.begin(), experiment.train().classes.end()));
}

TEST(IccClassifier, ProbabilitiesSumToOneAndAgreeWithPredictions) {
  const Experiment1 experiment;
  for (const IccReduce reduce : {IccReduce::Lda, IccReduce::Pca, IccReduce::None}) {
    IccClassifierOptions options;
    options.reduce = reduce;
    const IccClassifierResult result = fit_icc_classifier(experiment.train(), options);
    const Matrix<double> shares = predict_probabilities(result.model, experiment.train().points);
    for (int64_t i = 0; i < 650; ++i) {
      const auto row = shares.row_span(i);
      EXPECT_NEAR(row[0] + row[1] + row[2], 1, 1e-9);
      EXPECT_EQ(std::ranges::max_element(row) - row.begin(), result.labels[i]);
    }
  }
}

TEST(IccClassifier, ThreadsChangeNoBit) {
  const Experiment1 experiment;
  IccClassifierOptions one, two;
  one.icc.num_threads = 1;
  two.icc.num_threads = 2;
  const IccClassifierModel a = fit_icc_classifier(experiment.train(), one).model;
  const IccClassifierModel b = fit_icc_classifier(experiment.train(), two).model;
  EXPECT_EQ(a.axes, b.axes);
  EXPECT_EQ(a.classifier.covariances, b.classifier.covariances);
}

TEST(IccClassifier, FoldsSpreadClassesAndKeepGroupsTogether) {
  Random random(1);
  std::vector<int> classes(100), groups(100);
  for (int i = 0; i < 100; ++i) {
    classes[i] = i % 4;
    groups[i] = i / 5;
  }
  const std::vector<int> folds = internal::make_folds(classes, {}, 5, random);
  std::map<std::pair<int, int>, int> table;
  for (int i = 0; i < 100; ++i) ++table[{classes[i], folds[i]}];
  for (const auto& [key, count] : table) EXPECT_EQ(count, 5);
  const std::vector<int> together = internal::make_folds(classes, groups, 5, random);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(together[i], together[i / 5 * 5]);
}

TEST(IccClassifier, ComparisonIsTheTableOfThePaper) {
  const Experiment1 experiment;
  IccCompareOptions options;
  options.repeat = 8;
  options.classifier.icc.bandwidth = "0.06";
  const IccComparison table =
      compare_icc({experiment.data.points, experiment.data.classes, {}}, options);
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.num_trials, 8);
  EXPECT_EQ(table.rows[3].name, "ICC + LDA");
  EXPECT_GT(table.rows[3].mean, table.rows[1].mean + 0.05);
  EXPECT_LT(table.rows[1].p_value, 0.05);
  EXPECT_EQ(table.rows[3].p_value, 1);
  EXPECT_LT(table.rows[3].overlap, table.rows[1].overlap);
  EXPECT_THAT(comparison_text(table), HasSubstr("EM + LDA"));
  options.contenders = {paper_contenders(options.classifier)[3],
                        paper_contenders(options.classifier)[1]};
  const IccComparison own =
      compare_icc({experiment.data.points, experiment.data.classes, {}}, options);
  ASSERT_EQ(own.rows.size(), 2u);
  EXPECT_EQ(own.rows[0].accuracies, table.rows[3].accuracies);
  EXPECT_EQ(own.rows[0].p_value, table.rows[1].p_value);
  options.contenders.clear();
  options.cv = 3;
  options.repeat = 2;
  std::vector<int> groups(700);
  for (int i = 0; i < 700; ++i) groups[i] = i / 30;
  EXPECT_EQ(compare_icc({experiment.data.points, experiment.data.classes, groups}, options)
                .rows[0]
                .accuracies.size(),
            2u);
}

// Stops when a stage has come so far.
class StopAt : public Monitor {
 public:
  StopAt(std::stop_source& source, std::string_view stage, int64_t at)
      : Monitor(source.get_token()), source_(source), stage_(stage), at_(at) {}
  void on_progress(std::string_view stage, int64_t done, int64_t) override {
    if (stage == stage_ && done >= at_) source_.request_stop();
  }

 private:
  std::stop_source& source_;
  std::string_view stage_;
  int64_t at_;
};

// p-values of a comparison that was stopped would be those of whatever trials there were.
TEST(IccClassifier, StoppedComparisonSaysSo_issue20) {
  const Experiment1 experiment;
  IccCompareOptions options;
  options.repeat = 6;
  for (const int trials : {0, 3}) {
    std::stop_source stop;
    StopAt monitor(stop, "trials", trials);
    const IccComparison table =
        compare_icc({experiment.data.points, experiment.data.classes, {}}, options, monitor);
    EXPECT_EQ(table.termination, Termination::Cancelled);
    EXPECT_EQ(table.num_trials, trials);
    EXPECT_FALSE(table.is_complete());
    for (const IccCompareRow& row : table.rows) {
      EXPECT_EQ(row.accuracies.size(), static_cast<size_t>(trials));
      EXPECT_EQ(row.p_value, 1);
    }
  }
  const IccComparison whole =
      compare_icc({experiment.data.points, experiment.data.classes, {}}, options);
  EXPECT_EQ(whole.termination, Termination::Converged);
  EXPECT_TRUE(whole.is_complete());
  EXPECT_NE(whole.rows[0].p_value, 1);
}

TEST(IccClassifier, StoppedChoiceIsNotComplete_issue20) {
  const Experiment1 experiment;
  std::stop_source stop;
  StopAt monitor(stop, "cross-validation", 5);
  const IccClassifierInput input{experiment.data.points, experiment.data.classes};
  EXPECT_FALSE(choose_icc_options(input, {}, monitor).is_complete);
}

TEST(IccClassifier, WrongOptionsAreRefused) {
  const Experiment1 experiment;
  const IccCompareInput input{experiment.data.points, experiment.data.classes, {}};
  IccCompareOptions options;
  options.holdout = 1;
  EXPECT_THAT(message_of([&] { compare_icc(input, options); }), HasSubstr("holdout is 1"));
  options.cv = 1;
  EXPECT_THAT(message_of([&] { compare_icc(input, options); }), HasSubstr("cv is 1"));
  options.cv = 2;
  options.repeat = 0;
  EXPECT_THAT(message_of([&] { compare_icc(input, options); }), HasSubstr("repeat is 0"));
  std::vector<int> lonely = experiment.data.classes;
  lonely[5] = 3;
  options.repeat = 1;
  EXPECT_THAT(message_of([&] {
                compare_icc({experiment.data.points, lonely, {}}, options);
              }),
              HasSubstr("class 3 has 1 sample"));
  const IccClassifierModel model = fit_icc_classifier(experiment.train(), {}).model;
  EXPECT_THAT(message_of([&] { predict(model, Matrix<float>(2, 5)); }), HasSubstr("5 columns"));
  IccClassifierModel broken = model;
  broken.origin.pop_back();
  EXPECT_THAT(message_of([&] { predict(broken, experiment.data.points); }),
              HasSubstr("are inconsistent"));
}

}  // namespace
}  // namespace milieu

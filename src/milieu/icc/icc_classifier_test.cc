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

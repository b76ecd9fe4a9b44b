// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "milieu/base/error.h"
#include "milieu/run/predict.h"
#include "milieu/store/run_folder.h"
#include "milieu/testing/image_files.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Classes a, b and c: three groups of four points each.
constexpr const char* kPoints =
    "x,y,class\n0,0,a\n0,1,a\n1,0,a\n1,1,a\n9,0,b\n9,1,b\n8,0,b\n8,1,b\n0,9,c\n1,9,c\n0,8,c\n"
    "1,8,c\n";

class RunTest : public ::testing::Test {
 protected:
  RunTest() : cache_("MILIEU_CACHE", dir_.file("cache")) {}
  RunSpec spec(const std::string& method) {
    RunSpec spec{.method = method};
    spec.input.path = dir_.write("X.csv", kPoints);
    spec.input.label_column = "class";
    return spec;
  }
  TempDir dir_;
  ScopedVariable cache_;
};

TEST(Methods, TableHasContextMethodsFirst) {
  bool has_baseline = false;
  std::set<std::string> names;
  for (const MethodEntry& entry : methods()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.title.empty()) << entry.name;
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_THAT(entry.example, HasSubstr("milieu " + entry.name)) << entry.name;
    has_baseline = has_baseline || entry.group == MethodGroup::Baseline;
    EXPECT_TRUE(!has_baseline || entry.group == MethodGroup::Baseline) << entry.name;
    EXPECT_NE(entry.make(), nullptr);
  }
  EXPECT_EQ(methods()[0].name, "cac");
  EXPECT_EQ(find_method("no such method"), nullptr);
}

TEST(Methods, TitlesAreWrittenOut) {
  EXPECT_EQ(method_title("ncut"), "Normalized cut");
  EXPECT_EQ(method_title("dcp"), "Discriminative context partitioning");
  EXPECT_EQ(method_title("icc classify"), "Intra-class clustering classify");
  EXPECT_EQ(method_title("nothing"), "nothing");
}

TEST_F(RunTest, ExecuteGivesLabelsModelAndMetrics) {
  RunSpec s = spec("kmeans");
  s.options["num_clusters"] = int64_t{3};
  const RunOutcome outcome = execute(s);
  EXPECT_EQ(outcome.labels.size(), 12u);
  ASSERT_TRUE(outcome.model);
  ASSERT_TRUE(outcome.truth_metrics);
  EXPECT_EQ(outcome.truth_metrics->accuracy, 1.0);
  EXPECT_THAT(outcome.command, HasSubstr("milieu kmeans"));
  EXPECT_THAT(outcome.command, HasSubstr("--num-clusters 3"));
  EXPECT_THAT(outcome.options_json, HasSubstr("\"num_clusters\": 3"));
}

TEST_F(RunTest, WrongNamesAreRefused) {
  EXPECT_THAT([&] { execute({.method = "kmaens"}); },
              ThrowsMessage<InvalidArgument>(AllOf(HasSubstr("kmaens"), HasSubstr("kmeans"))));
  RunSpec s = spec("kmeans");
  s.options["num_cluster"] = int64_t{3};
  EXPECT_THAT([&] { execute(s); },
              ThrowsMessage<InvalidArgument>(HasSubstr("kmeans has no option or input")));
  RunSpec t = spec("kmeans");
  t.preset = "paper";
  EXPECT_THAT([&] { execute(t); }, ThrowsMessage<InvalidArgument>(HasSubstr("has no presets")));
  RunSpec u = spec("dcp");
  u.preset = "papers";
  EXPECT_THAT([&] { execute(u); },
              ThrowsMessage<InvalidArgument>(HasSubstr("must be margin or paper")));
  EXPECT_THROW(execute({.method = "kmeans"}), InvalidArgument);
}

TEST_F(RunTest, WhatIsGivenOverridesThePreset) {
  RunSpec s = spec("dcp");
  s.preset = "paper";
  s.files["context_select"] = "c";
  s.options["num_restarts"] = int64_t{3};
  const RunOutcome outcome = execute(s);
  EXPECT_THAT(outcome.options_json, HasSubstr("\"num_restarts\": 3"));
  EXPECT_THAT(outcome.options_json, HasSubstr("\"loss\": \"hinge\""));
}

// It used to be refused.
TEST_F(RunTest, ContextSelectWithoutSelectSplitsEverythingElse_issue19) {
  RunSpec s = spec("dcp");
  s.files["context_select"] = "c";
  const RunOutcome outcome = execute(s);
  EXPECT_EQ(outcome.labels.size(), 8u);
  ASSERT_NE(find_wholes(outcome.columns, "context_rows"), nullptr);
  EXPECT_THAT(*find_wholes(outcome.columns, "context_rows"), ::testing::ElementsAre(8, 9, 10, 11));
  RunSpec named = spec("dcp");
  named.input.select = "a,b";
  named.files["context_select"] = "c";
  EXPECT_EQ(execute(named).labels, outcome.labels);
  RunSpec all = spec("dcp");
  all.files["context_select"] = "a,b,c";
  EXPECT_THAT([&] { execute(all); },
              ThrowsMessage<InvalidArgument>(HasSubstr("nothing is left to split")));
}

TEST_F(RunTest, ContextByClassesHasNoRowThatWasChosenByNumber) {
  RunSpec s = spec("dcp");
  s.input.rows = dir_.write("rows.txt", "0\n1\n4\n5\n8\n");
  s.files["context_select"] = "c";
  const RunOutcome outcome = execute(s);
  EXPECT_EQ(outcome.labels.size(), 5u);
  EXPECT_THAT(*find_wholes(outcome.columns, "context_rows"), ::testing::ElementsAre(9, 10, 11));
}

// Classes of equal size, or a file of the same shape, used to give the rows of another ranking.
TEST_F(RunTest, RankingOfOtherSamplesIsNotResumed_issue20) {
  RunSpec s = spec("dcp");
  s.input.select = "a";
  s.options["rank_contexts"] = true;
  s.options["num_restarts"] = int64_t{2};
  s.files["resume"] = dir_.file("ranking.json");
  const RunOutcome first = execute(s);
  EXPECT_EQ(execute(s).labels, first.labels);
  s.input.select = "b";
  EXPECT_THAT([&] { execute(s); },
              ThrowsMessage<InvalidArgument>(HasSubstr("a ranking of other data")));
  s.input.select = "a";
  std::string changed = kPoints;
  changed.replace(changed.find("0,9,c"), 5, "0,7,c");
  dir_.write("X.csv", changed);
  EXPECT_THAT(
      [&] {
        RunSpec again = s;
        again.input.path = dir_.file("X.csv");
        execute(again);
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("a ranking of other data")));
}

TEST_F(RunTest, OnlyOneContextMayBeGiven) {
  RunSpec s = spec("dcp");
  s.files["context_select"] = "c";
  s.files["context"] = s.input.path;
  EXPECT_THAT([&] { execute(s); },
              ThrowsMessage<InvalidArgument>(HasSubstr("give only one of --context")));
  RunSpec none = spec("dcp");
  EXPECT_THAT([&] { execute(none); },
              ThrowsMessage<InvalidArgument>(HasSubstr("the context is missing")));
}

TEST_F(RunTest, DecisionsAndMarginsAreColumns) {
  RunSpec s = spec("dcp");
  s.input.select = "a,b";
  s.files["context_select"] = "c";
  const RunOutcome outcome = execute(s);
  const std::vector<float>* decisions = find_reals(outcome.columns, "decisions");
  const std::vector<float>* margins = find_reals(outcome.columns, "margins");
  ASSERT_TRUE(decisions && margins);
  ASSERT_EQ(decisions->size(), 16u);
  for (size_t i = 0; i < 8; ++i) {
    const auto label = static_cast<size_t>(outcome.labels[i]);
    EXPECT_FLOAT_EQ((*margins)[i], (*decisions)[2 * i + label] - (*decisions)[2 * i + 1 - label]);
  }
}

TEST_F(RunTest, RankingKeepsTheLabelsOfEveryContext) {
  RunSpec s = spec("dcp");
  s.input.select = "a";
  s.options["rank_contexts"] = true;
  s.options["num_restarts"] = int64_t{2};
  const RunOutcome outcome = execute(s);
  for (const Column& column : outcome.columns)
    if (column.name == "ranked_labels") {
      EXPECT_EQ(column.width, 3);  // two classes, and both together
      EXPECT_EQ(column.num_rows(), 4);
      return;
    }
  FAIL() << "no ranked_labels";
}

// Images are described once, and a file that cannot be read is named once.
TEST_F(RunTest, ImageFolderIsReadOnceForSetAndContext_issue19) {
  class Counter : public Monitor {
   public:
    void on_note(std::string_view) override { ++notes; }
    void on_stage(RunStage stage, std::string_view) override {
      described += stage == RunStage::Describing;
    }
    int notes = 0, described = 0;
  } monitor;
  RunSpec s{.method = "dcp"};
  s.input.path = make_image_folder(dir_, "photos", 4);
  dir_.write("photos/blobs/broken.ppm", "P6\n");
  s.input.feature = "tiny";
  s.input.select = "blobs";
  s.files["context_select"] = "stripes";
  const RunOutcome outcome = execute(s, monitor);
  EXPECT_EQ(monitor.notes, 1);
  EXPECT_EQ(monitor.described, 1);
  EXPECT_EQ(std::ranges::count_if(
                outcome.summary.warnings,
                [](const std::string& text) { return text.find("skipped") != text.npos; }),
            1);
  EXPECT_EQ(outcome.labels.size(), 4u);
}

TEST_F(RunTest, ContextMayBeAnotherImageFolder) {
  RunSpec s{.method = "dcp"};
  s.input.path = make_image_folder(dir_, "photos", 4);
  s.input.feature = "dense-sift:words=6";
  s.files["context"] = make_image_folder(dir_, "others", 3, 50);
  const RunOutcome outcome = execute(s);
  EXPECT_EQ(outcome.labels.size(), 8u);
  RunSpec numbers = spec("dcp");
  numbers.files["context"] = s.files["context"];
  EXPECT_THAT([&] { execute(numbers); },
              ThrowsMessage<InvalidArgument>(HasSubstr("is a file of numbers: give a file")));
}

TEST_F(RunTest, CountsCountTheWordsOfImages) {
  RunSpec s{.method = "bags"};
  s.input.path = make_image_folder(dir_, "photos", 3);
  s.input.feature = "dense-sift:words=4";
  s.options["num_clusters"] = int64_t{2};
  const RunOutcome outcome = execute(s);
  EXPECT_THAT(outcome.input.images.feature, HasSubstr("norm=none"));
}

// The projection used to lie beside the model: a copied model could not label images.
TEST_F(RunTest, CopiedDlgmmModelLabelsNewImagesByItself_issue19) {
  RunSpec s{.method = "dlgmm"};
  s.input.path = make_image_folder(dir_, "photos", 4);
  s.input.feature = "dense-sift:step=6";
  s.options["num_words"] = int64_t{5};
  s.options["num_clusters"] = int64_t{2};
  s.options["num_components"] = int64_t{8};
  const RunOutcome outcome = execute(s);
  fs::create_directories(dir_.file("alone"));
  const std::string path = dir_.file("alone/model.safetensors");
  write_model_file(path, *outcome.model);
  PredictRequest request;
  request.model = path;
  request.input = s.input.path;
  request.wants_words = true;
  const Prediction predicted = predict_input(request);
  EXPECT_EQ(predicted.labels, outcome.labels);
  EXPECT_EQ(predicted.probabilities.rows(), 8);
  EXPECT_EQ(predicted.words.size(), static_cast<size_t>(predicted.patches.patches.rows()));
}

TEST_F(RunTest, CopiedKMeansModelOfWordsLabelsNewImagesByItself) {
  RunSpec s{.method = "kmeans"};
  s.input.path = make_image_folder(dir_, "photos", 4);
  s.input.feature = "dense-sift:words=6";
  s.options["num_clusters"] = int64_t{2};
  const RunOutcome outcome = execute(s);
  const std::string path = dir_.file("alone.safetensors");
  write_model_file(path, *outcome.model);
  PredictRequest request;
  request.model = path;
  request.input = s.input.path;
  EXPECT_EQ(predict_input(request).labels, outcome.labels);
}

TEST_F(RunTest, StepIsDeprecatedButWorks) {
  RunSpec s{.method = "dlgmm"};
  s.input.path = make_image_folder(dir_, "photos", 2);
  s.options["num_words"] = int64_t{4};
  s.options["num_clusters"] = int64_t{2};
  s.options["step"] = int64_t{12};
  const RunOutcome outcome = execute(s);
  EXPECT_THAT(outcome.summary.warnings, Contains(HasSubstr("step is deprecated")));
  EXPECT_THAT(outcome.input.patches.feature, HasSubstr("step=12"));
}

TEST_F(RunTest, OptionsOfAnEarlierRunGiveTheSameResult) {
  RunSpec s = spec("gmm");
  s.options["num_clusters"] = int64_t{3};
  const RunOutcome first = execute(s);
  const std::string path = dir_.write("options.json", first.options_json);
  milieu::Run again("gmm");
  again.read_options(path);
  again.validate();
  again.read(silent_monitor());
  const RunOutcome second = again.fit(silent_monitor());
  EXPECT_EQ(second.labels, first.labels);
  EXPECT_EQ(second.options_json, first.options_json);
  milieu::Run other("kmeans");
  EXPECT_THAT([&] { other.read_options(path); },
              ThrowsMessage<InvalidArgument>(HasSubstr("is of method gmm")));
}

TEST_F(RunTest, GroupsLabelGroups) {
  RunSpec s = spec("cac");
  s.files["groups"] = dir_.write("groups.txt", "0,1,2\n3,2\n4,5,6\n7,6\n8,9\n10,11\n");
  s.files["group_weights"] = dir_.write("weights.csv", "1\n1\n1\n1\n1\n1\n");
  s.options["num_words"] = int64_t{3};
  s.options["num_phrases"] = int64_t{2};
  const RunOutcome outcome = execute(s);
  EXPECT_EQ(outcome.labels.size(), 6u);
  EXPECT_EQ(outcome.samples().points.rows(), 6);
  s.files["group_weights"] = dir_.write("few.csv", "1\n1\n");
  EXPECT_THAT([&] { execute(s); }, ThrowsMessage<DataError>(HasSubstr("one weight per group")));
}

}  // namespace
}  // namespace milieu

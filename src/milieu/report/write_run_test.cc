// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/write_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "milieu/base/error.h"
#include "milieu/data/text_file.h"
#include "milieu/report/run_page.h"
#include "milieu/report/run_view.h"
#include "milieu/run/run.h"
#include "milieu/testing/image_files.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class WriteRunTest : public ::testing::Test {
 protected:
  WriteRunTest() : cache_("MILIEU_CACHE", dir_.file("cache")) {}
  TempDir dir_;
  ScopedVariable cache_;
};

Collection collection_of(const RunOutcome& outcome) {
  CollectionOptions options;
  options.data = outcome.input.source->take();
  options.root = outcome.input.images.root;
  return Collection(std::move(options));
}

// What the explorer reads from the folder is what the run said.
TEST_F(WriteRunTest, ViewOfTheFolderIsThatOfTheOutcome) {
  RunSpec spec{.method = "dcp"};
  spec.input.path = make_image_folder(dir_, "photos", 5);
  spec.input.feature = "tiny";
  spec.input.select = "blobs";
  spec.files["context_select"] = "stripes";
  const RunOutcome outcome = execute(spec);
  const std::string folder = dir_.file("run");
  write_run(outcome, folder);
  for (const char* name : {"options.json", "summary.json", "labels.csv", "columns.safetensors",
                           "model.safetensors", "decisions.csv", "report.html"})
    EXPECT_TRUE(std::filesystem::exists(folder + "/" + name)) << name;
  const Collection collection = collection_of(outcome);
  const RunView view =
      read_run_view({folder, "dcp", outcome.input.data.rows, {5, 6, 7, 8, 9}}, collection);
  EXPECT_EQ(view.columns.labels,
            std::vector<int32_t>(outcome.labels.begin(), outcome.labels.end()));
  EXPECT_EQ(view.columns.decisions, *find_reals(outcome.columns, "decisions"));
  EXPECT_EQ(view.columns.margins, *find_reals(outcome.columns, "margins"));
  EXPECT_EQ(view.columns.context_decisions, *find_reals(outcome.columns, "context_decisions"));
  EXPECT_THAT(view.parts, SizeIs(2));
  std::filesystem::remove(folder + "/columns.safetensors");  // as version 0.1.0 left it
  const RunView old =
      read_run_view({folder, "dcp", outcome.input.data.rows, {5, 6, 7, 8, 9}}, collection);
  ASSERT_EQ(old.columns.decisions.size(), view.columns.decisions.size());
  for (size_t i = 0; i < old.columns.decisions.size(); ++i)
    EXPECT_NEAR(old.columns.decisions[i], view.columns.decisions[i], 1e-5);
}

TEST_F(WriteRunTest, WordsOfImagesAreReadFromTheColumns) {
  RunSpec spec{.method = "cac"};
  spec.input.path = make_image_folder(dir_, "photos", 3);
  spec.options["num_words"] = int64_t{4};
  spec.options["num_phrases"] = int64_t{2};
  const RunOutcome outcome = execute(spec);
  const std::string folder = dir_.file("run");
  write_run(outcome, folder);
  CollectionOptions options;
  options.data.points = Points(Matrix<float>(6, 1));
  options.data.sample_names = outcome.input.places.paths;
  options.root = outcome.input.places.root;
  const Collection collection(std::move(options));
  const RunView view = read_run_view({folder, "cac", {0, 1, 2, 3, 4, 5}, {}}, collection);
  size_t keypoints = 0;
  for (const auto& [row, words] : view.words.images) keypoints += words.size();
  EXPECT_EQ(keypoints, outcome.labels.size());
  const ImageWord& first = view.words.images.begin()->second[0];
  EXPECT_EQ(first.word, (*find_wholes(outcome.columns, "words"))[0]);
  EXPECT_EQ(first.phrase, outcome.labels[0]);
  std::filesystem::remove(folder + "/columns.safetensors");  // as version 0.1.0 left it
  const RunView old = read_run_view({folder, "cac", {0, 1, 2, 3, 4, 5}, {}}, collection);
  EXPECT_EQ(old.columns.labels, view.columns.labels);
  EXPECT_EQ(old.words.images.size(), view.words.images.size());
}

// Images that were removed after they were described: blank places need a word.
TEST_F(WriteRunTest, LostImagesAreSaid_issue20) {
  RunSpec spec{.method = "kmeans"};
  spec.input.path = make_image_folder(dir_, "photos", 3);
  spec.input.feature = "tiny";
  spec.options["num_clusters"] = int64_t{2};
  const RunOutcome outcome = execute(spec);
  EXPECT_THAT(render_run_page(outcome), Not(HasSubstr("images cannot be opened")));
  std::filesystem::remove(spec.input.path + "/" + outcome.samples().sample_names[0]);
  EXPECT_THAT(render_run_page(outcome), HasSubstr("1 of 6 images cannot be opened"));
}

TEST_F(WriteRunTest, ReportNamesMethodAndSource) {
  RunSpec spec{.method = "kmeans"};
  spec.input.path = dir_.write("X.csv", "0,0\n0,1\n9,9\n9,8\n");
  spec.options["num_clusters"] = int64_t{2};
  write_run(execute(spec), dir_.file("run"));
  const std::string page = read_text_file(dir_.file("run/report.html"));
  EXPECT_THAT(page, HasSubstr("k-means on "));
  EXPECT_THAT(page, HasSubstr("--num-clusters 2"));
}

// Commands that are no method (icc compare) have few of the files.
TEST_F(WriteRunTest, WhatIsEmptyHasNoFile) {
  const auto names_in = [&](const char* folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.file(folder)))
      names.insert(entry.path().filename().string());
    return names;
  };
  const ResultFile table{"table.csv", "a,b\n"};
  write_run_files({.options_json = "{}", .summary_json = "{}", .files = {&table, 1}},
                  dir_.file("few"), false);
  EXPECT_THAT(names_in("few"), ElementsAre("options.json", "summary.json", "table.csv"));
  Dataset samples;
  samples.sample_names = {"a.png", "b.png"};
  const std::vector<int> labels = {1, 0};
  ModelFile model;
  model.kind = "kmeans";
  const std::vector<Column> columns = {real_column("margins", std::vector<float>{1, 2})};
  const VocabularyFile words{"w.codebook.npy", dir_.write("w.npy", "words")};
  write_run_files({.options_json = "{}",
                   .summary_json = "{}",
                   .labels = labels,
                   .samples = &samples,
                   .model = &model,
                   .columns = &columns,
                   .vocabulary = {&words, 1},
                   .report_html = "<p>"},
                  dir_.file("all"), false);
  EXPECT_THAT(names_in("all"),
              ElementsAre("columns.safetensors", "labels.csv", "model.safetensors", "options.json",
                          "report.html", "summary.json", "w.codebook.npy"));
  EXPECT_EQ(read_text_file(dir_.file("all/labels.csv")), "sample,label\na.png,1\nb.png,0\n");
  EXPECT_EQ(read_text_file(dir_.file("all/w.codebook.npy")), "words");
  EXPECT_THROW(
      write_run_files({.options_json = "{}", .summary_json = "{}"}, dir_.file("all"), false),
      InvalidArgument);
}

TEST(RankedContexts, AreReadFromSummaryAndColumns) {
  const std::vector<Column> columns = {whole_column("ranked_labels", {0, 1, 0, 0, 1, 1}, 2)};
  const auto contexts = ranked_contexts(
      columns,
      R"({"contexts": ["sea", "sky"], "context_consensus": [0.9, 0.5], "context_confidence": [0.9, 0.7],
          "context_stability": [1, 0.5]})");
  ASSERT_THAT(contexts, SizeIs(2));
  EXPECT_EQ(contexts[1].name, "sky");
  EXPECT_EQ(contexts[1].rank, 2);
  EXPECT_EQ(contexts[1].confidence, 0.7);
  EXPECT_EQ(contexts[0].labels, (std::vector<int>{0, 0, 1}));
  EXPECT_TRUE(ranked_contexts(columns, "{}").empty());
  EXPECT_TRUE(ranked_contexts(columns, "not json").empty());
}

}  // namespace
}  // namespace milieu

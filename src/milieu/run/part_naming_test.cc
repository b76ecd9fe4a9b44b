// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/part_naming.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/run/run.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

// Directions of a plane that is turned into eight columns: the samples of each class lie around one
// direction, the labels are twelve directions with the names of the hours.
class PartNamingTest : public ::testing::Test {
 protected:
  static constexpr int kPerClass = 12;

  // One line per sample of each class, its hour first.
  std::string rows(const std::vector<int>& hours, uint64_t seed) const {
    Random random(seed);
    std::string text;
    for (const int hour : hours)
      for (int i = 0; i < kPerClass; ++i)
        text += line(hour, 0.1, random) + fmt::format(",h{}\n", hour);
    return text;
  }
  static std::string line(int hour, double noise, Random& random) {
    std::string text;
    for (int j = 0; j < 12; ++j)
      text += fmt::format("{}{:.4f}", j == 0 ? "" : ",",
                          (j == hour ? 1.0 : 0.0) + noise * random.normal());
    return text;
  }
  RunSpec spec(const std::string& method, const std::vector<int>& hours) {
    RunSpec spec{.method = method};
    spec.input.path = dir_.write("X.csv", rows(hours, 1));
    spec.input.label_column = "13";
    Random random(2);
    std::string labels, names;
    for (int hour = 0; hour < 12; ++hour) {
      labels += line(hour, 0.02, random) + "\n";
      names += fmt::format("hour {}\n", hour);
    }
    spec.describe = {dir_.write("labels.csv", labels), dir_.write("names.txt", names)};
    return spec;
  }
  static std::vector<std::string> titles(const RunOutcome& outcome) {
    std::vector<std::string> titles;
    for (const PartNames& part : outcome.part_names) titles.push_back(part.title());
    return titles;
  }
  TempDir dir_;
};

TEST_F(PartNamingTest, ClustersGetTheirLabels) {
  RunSpec s = spec("kmeans", {3, 7});
  s.options["num_clusters"] = int64_t{2};
  const RunOutcome outcome = execute(s);
  EXPECT_THAT(titles(outcome), UnorderedElementsAre("hour 3", "hour 7"));
  EXPECT_THAT(outcome.text, HasSubstr("part 0: hour "));
  EXPECT_THAT(outcome.options_json, HasSubstr("\"label_names\""));
  EXPECT_THAT(outcome.command, HasSubstr("--describe "));
  const auto json = nlohmann::json::parse(outcome.summary_json());
  ASSERT_EQ(json["part_names"].size(), 2U);
  EXPECT_EQ(json["part_names"][0]["name"], titles(outcome)[0]);
  EXPECT_EQ(json["part_names"][0]["labels"][0]["sure"], 1.0);
  EXPECT_TRUE(std::ranges::any_of(
      outcome.files, [](const ResultFile& file) { return file.name == "part_names.csv"; }));
}

TEST_F(PartNamingTest, WithoutDescribeThereAreNoNames) {
  RunSpec s = spec("kmeans", {3, 7});
  s.describe = {};
  const RunOutcome outcome = execute(s);
  EXPECT_TRUE(outcome.part_names.empty());
  EXPECT_THAT(outcome.summary_json(), ::testing::Not(HasSubstr("part_names")));
}

TEST_F(PartNamingTest, PartsOfDcpAreComparedWithTheContext) {
  RunSpec s = spec("dcp", {3, 7, 5});
  s.input.select = "h3,h7";
  s.files["context_select"] = "h5";
  s.options["sizes"] = "40%-";
  s.options["num_clusters"] = int64_t{2};
  const RunOutcome outcome = execute(s);
  ASSERT_TRUE(outcome.context);
  EXPECT_EQ(outcome.context->points.rows(), kPerClass);
  EXPECT_THAT(titles(outcome), UnorderedElementsAre("hour 3", "hour 7"));
  s.files = {};
  s.options["rank_contexts"] = true;
  EXPECT_THAT(titles(execute(s)), UnorderedElementsAre("hour 3", "hour 7"));
}

TEST_F(PartNamingTest, SubclassesAreComparedWithinTheirClass) {
  RunSpec s = spec("icc", {3, 7});
  const RunOutcome outcome = execute(s);
  ASSERT_EQ(outcome.part_classes.size(), outcome.part_names.size());
  EXPECT_EQ(outcome.part_names[0].title(), "hour 3");
}

TEST_F(PartNamingTest, ExemplarsHaveLabelsOfTheirOwn) {
  RunSpec s = spec("exemplar", {3, 7, 9});
  s.options["num_clusters"] = int64_t{3};
  const RunOutcome outcome = execute(s);
  EXPECT_THAT(titles(outcome), UnorderedElementsAre("hour 3", "hour 7", "hour 9"));
  for (const PartNames& part : outcome.part_names) {
    ASSERT_FALSE(part.exemplar.empty());
    EXPECT_EQ(part.exemplar[0].name, part.labels[0].name);
  }
}

// Groups of three rows: phrases are named by the rows that belong to them.
TEST_F(PartNamingTest, PhrasesOfGroupsAreNamedByTheirRows) {
  RunSpec s = spec("cac", {3, 7});
  std::string groups;
  for (int g = 0; g < 8; ++g) groups += fmt::format("{} {} {}\n", 3 * g, 3 * g + 1, 3 * g + 2);
  s.files["groups"] = dir_.write("groups.txt", groups);
  s.options["num_words"] = int64_t{2};
  s.options["num_phrases"] = int64_t{2};
  const RunOutcome outcome = execute(s);
  EXPECT_EQ(outcome.labels.size(), 8U);
  EXPECT_EQ(outcome.row_labels.size(), 24U);
  EXPECT_THAT(titles(outcome), UnorderedElementsAre("hour 3", "hour 7"));
}

TEST_F(PartNamingTest, TheSameSeedGivesTheSameNames) {
  RunSpec s = spec("kmeans", {3, 7, 9});
  s.options["num_clusters"] = int64_t{3};
  s.options["num_threads"] = int64_t{1};
  RunSpec more = s;
  more.options["num_threads"] = int64_t{3};
  const auto names = [](const RunSpec& one) {
    return nlohmann::json::parse(execute(one).summary_json())["part_names"];
  };
  EXPECT_EQ(names(s), names(more));
}

TEST_F(PartNamingTest, SamplesThatCannotBeDescribedAreNamed) {
  RunSpec s = spec("kmeans", {3, 7});
  s.describe.describe = "onnx:net.onnx";
  EXPECT_THAT([&] { execute(s); },
              ThrowsMessage<InvalidArgument>(HasSubstr("X.csv is not an image folder")));
  RunSpec views = spec("cac", {3, 7});
  views.files["view"] = dir_.write("view.csv", "0,1\n1,0\n2,2\n");
  views.input = {};
  EXPECT_THAT([&] { execute(views); }, ThrowsMessage<InvalidArgument>(HasSubstr("several views")));
}

}  // namespace
}  // namespace milieu

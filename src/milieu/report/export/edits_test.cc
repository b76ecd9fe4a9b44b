// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/export/edits.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Edits some_edits() {
  Edits edits;
  edits.num_parts = 3;
  edits.moves = {{0, 2}, {3, Edits::kSetAside}};
  edits.tags = {{1, "blurred"}, {1, "=odd, \"quoted\""}};
  edits.part_names = {"", "stripes"};
  edits.history = R"({"at":1,"steps":[{"what":"2 images"}]})";
  return edits;
}

// The message of the refusal, or "" when the text is taken.
std::string refusal(const std::string& text, int64_t num_samples = 4) {
  try {
    edits_from_json(text, num_samples);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(Edits, TextIsReadBackWhole) {
  const Edits edits = some_edits(), back = edits_from_json(to_json_text(edits), 4);
  EXPECT_EQ(back.num_parts, 3);
  EXPECT_THAT(back.moves, ElementsAre(Pair(0, 2), Pair(3, -1)));
  EXPECT_THAT(back.tags, ElementsAre(Pair(1, "blurred"), Pair(1, "=odd, \"quoted\"")));
  EXPECT_THAT(back.part_names, ElementsAre("", "stripes"));
  EXPECT_EQ(back.history, edits.history);
  EXPECT_EQ(to_json_text(back), to_json_text(edits));
}

TEST(Edits, WrongTextIsRefusedWithTheReason) {
  EXPECT_THAT(refusal("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal("{\"version\": 2}"), HasSubstr("another version"));
  const auto with = [](const std::string& more) {
    return fmt::format("{{\"version\": 1, \"num_parts\": 2{}}}", more);
  };
  EXPECT_EQ(refusal(with("")), "");
  EXPECT_THAT(refusal("{\"version\": 1}"), HasSubstr("num_parts"));
  EXPECT_THAT(refusal(with(", \"moves\": 3")), HasSubstr("moves must be a list"));
  EXPECT_THAT(refusal(with(", \"moves\": [[4, 0]]")), HasSubstr("place 4, there are 4 samples"));
  EXPECT_THAT(refusal(with(", \"moves\": [[0, 2]]")), HasSubstr("part 2, must be from -1"));
  EXPECT_THAT(refusal(with(", \"moves\": [[0, -2]]")), HasSubstr("must be from -1"));
  EXPECT_THAT(refusal(with(", \"moves\": [[0, \"x\"]]")), HasSubstr("must be from -1"));
  EXPECT_THAT(refusal(with(", \"moves\": [[0]]")), HasSubstr("pairs"));
  EXPECT_THAT(refusal(with(", \"tags\": [[0, 1]]")), HasSubstr("texts"));
  EXPECT_THAT(refusal(with(fmt::format(", \"part_names\": [\"{}\"]", std::string(300, 'x')))),
              HasSubstr("at most 200 bytes"));
}

TEST(Edits, FolderKeepsThemUntilNothingIsLeft) {
  const TempDir folder;
  EXPECT_FALSE(read_edits(folder.path(), 4));
  write_edits(folder.path(), some_edits());
  ASSERT_TRUE(read_edits(folder.path(), 4));
  EXPECT_THROW(read_edits(folder.path(), 2), DataError);  // another run's
  write_edits(folder.path(), {});
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/edits.json"));
  write_edits(folder.path(), {});  // nothing to remove is fine
}

TEST(Edits, TagsAreListedBySample) {
  EXPECT_THAT(
      tags_by_sample(some_edits(), 3),
      ElementsAre(ElementsAre(), ElementsAre("blurred", "=odd, \"quoted\""), ElementsAre()));
}

// Five points on a line in two parts, with decision values.
CollectionOptions line_collection() {
  CollectionOptions options;
  Matrix<float> points(5, 1);
  for (int i = 0; i < 5; ++i) points(i, 0) = static_cast<float>(i);
  options.data.points = Points(std::move(points));
  return options;
}

RunView line_view(const Collection& collection) {
  RunView view;
  view.columns.rows = {0, 1, 2, 3, 4};
  view.columns.labels = {0, 0, 0, 1, 1};
  view.columns.num_parts = 2;
  view.columns.decisions = {2, -2, 1, -1, 0.25f, -0.25f, -1, 1, -2, 2};
  view.columns.margins = {4, 2, 0.5f, 2, 4};
  view.parts = describe_parts(view.columns, collection);
  return view;
}

TEST(Edits, MovedSampleHasItsNewPartAndItsMargin) {
  const Collection collection(line_collection());
  const RunView view = line_view(collection);
  Edits edits;
  edits.num_parts = 2;
  edits.moves = {{2, 1}};
  const RunView edited = edited_view(view, edits, collection);
  EXPECT_THAT(edited.columns.labels, ElementsAre(0, 0, 1, 1, 1));
  EXPECT_THAT(edited.columns.margins, ElementsAre(4, 2, -0.5f, 2, 4));
  EXPECT_THAT(edited.parts[1].members, ElementsAre(2, 3, 4));
  EXPECT_THAT(view.columns.labels, ElementsAre(0, 0, 0, 1, 1));  // the method's own stay
}

TEST(Edits, NewPartAndSamplesSetAside) {
  const Collection collection(line_collection());
  Edits edits;
  edits.num_parts = 3;
  edits.moves = {{4, 2}, {0, Edits::kSetAside}};
  const RunView edited = edited_view(line_view(collection), edits, collection);
  EXPECT_THAT(edited.columns.labels, ElementsAre(-1, 0, 0, 1, 2));
  ASSERT_EQ(edited.parts.size(), 3u);
  EXPECT_THAT(edited.parts[2].members, ElementsAre(4));
  EXPECT_TRUE(edited.columns.decisions.empty());  // they have no value for the new part
}

}  // namespace
}  // namespace milieu

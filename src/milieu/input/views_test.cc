// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Views, TextIsCutAtEverySeparator) {
  EXPECT_THAT(split_text("a,b,,c", ','), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split_text("", ','), ElementsAre(""));
  EXPECT_THAT(split_text("a,", ','), ElementsAre("a", ""));
}

TEST(Views, ListsOfFilesHaveCommasUnlessSuchAFileExists) {
  TempDir dir;
  const std::string odd = dir.write("a,b.csv", "1\n");
  EXPECT_FALSE(is_list_of_files(odd));
  EXPECT_THAT(files_of(odd), ElementsAre(odd));
  EXPECT_TRUE(is_list_of_files("x.npy,y.npy"));
  EXPECT_THAT(files_of("x.npy,y.npy"), ElementsAre("x.npy", "y.npy"));
  EXPECT_FALSE(is_list_of_files("x.npy"));
}

class ViewsTest : public ::testing::Test {
 protected:
  TempDir dir_;
  const std::string a_ = dir_.write("colour.csv", "r,g,kind\n1,2,u\n3,4,v\n5,6,u\n");
  const std::string b_ = dir_.write("shape.csv", "7\n8\n9\n");
};

TEST_F(ViewsTest, StandSideBySideUnderTheNamesOfTheirFiles) {
  LoadOptions load;
  load.label_column = "kind";
  const Views views = load_views({a_, b_}, load);
  ASSERT_EQ(views.points.size(), 2u);
  EXPECT_EQ(views.data.points.cols(), 3);
  EXPECT_EQ(views.data.points.view()(2, 2), 9);
  EXPECT_EQ(views.columns[0].name, "colour");
  EXPECT_EQ(views.columns[1].name, "shape");
  EXPECT_EQ(views.columns[1].first, 2);
  EXPECT_EQ(views.columns[1].count, 1);
  EXPECT_THAT(views.data.labels.names, ElementsAre("u", "v"));
  load.rows = {0, 2};
  EXPECT_EQ(load_views({a_, b_}, load).points[1].view()(1, 0), 9);
}

TEST_F(ViewsTest, MustHaveTheSameRows) {
  LoadOptions load;
  load.label_column = "kind";
  const std::string longer = dir_.write("long.csv", "1\n2\n3\n4\n");
  EXPECT_THAT(
      [&] {
        load_views({a_, longer}, load);
      },
      ThrowsMessage<DataError>(HasSubstr("long.csv has 4 rows")));
  EXPECT_THROW(load_views({a_, dir_.file("missing.csv")}, load), IoError);
}

}  // namespace
}  // namespace milieu

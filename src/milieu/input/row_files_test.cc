// SPDX-License-Identifier: Apache-2.0
#include "milieu/input/row_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

// Five rows, of which 1, 3 and 4 were kept.
class RowFilesTest : public ::testing::Test {
 protected:
  RowFilesTest() {
    data_.points = Points(Matrix<float>(3, 2));
    data_.rows = {1, 3, 4};
    data_.total_rows = 5;
    data_.source = "X.npy";
  }
  TempDir dir_;
  Dataset data_;
};

TEST_F(RowFilesTest, EntriesOfTheKeptRowsRemain) {
  const RowFiles rows("X.npy", data_);
  EXPECT_THAT(rows.weights(dir_.write("w.csv", "0\n1\n2\n3\n4\n")), ElementsAre(1, 3, 4));
  EXPECT_EQ(rows.matrix(dir_.write("m.csv", "0,9\n1,9\n2,9\n3,9\n4,9\n")).view()(1, 0), 3);
  EXPECT_THAT(rows.parts(dir_.write("p.txt", "0\n1\n-1\n1\n0\n")), ElementsAre(1, 1, 0));
  const Labels labels = rows.labels(dir_.write("l.txt", "a\nb\na\nb\na\n"));
  EXPECT_EQ(labels.names[static_cast<size_t>(labels.indices[0])], "b");
  EXPECT_EQ(labels.names[static_cast<size_t>(labels.indices[2])], "a");
}

TEST_F(RowFilesTest, AnotherNumberOfRowsIsRefused) {
  const RowFiles rows("X.npy", data_);
  const std::string path = dir_.write("w.csv", "1\n2\n3\n");
  EXPECT_THAT([&] { rows.weights(path); },
              ThrowsMessage<DataError>(HasSubstr("has 3 rows, X.npy has 5: they must match")));
}

TEST_F(RowFilesTest, WeightsHaveOneColumn) {
  const RowFiles rows("X.npy", data_);
  const std::string path = dir_.write("w.csv", "1,2\n1,2\n1,2\n1,2\n1,2\n");
  EXPECT_THAT([&] { rows.weights(path); }, ThrowsMessage<DataError>(HasSubstr("must have one")));
}

// cac used to read 3abc as 3.
TEST_F(RowFilesTest, LabelsThatOnlyBeginWithANumberAreRefused_issue19) {
  const std::string path = dir_.write("words.txt", "3abc\n1\n2\n");
  EXPECT_THAT([&] { load_whole_labels(path); },
              ThrowsMessage<DataError>(HasSubstr("'3abc', must be a whole number")));
  const RowFiles rows("X.npy", data_);
  const std::string parts = dir_.write("parts.txt", "1\n1\n1\n1x\n1\n");
  EXPECT_THROW(rows.parts(parts), DataError);
  EXPECT_THAT(load_whole_labels(dir_.write("good.txt", "3\n1\n-1\n")), ElementsAre(3, 1, -1));
}

TEST_F(RowFilesTest, PairsBecomePairsOfKeptRows) {
  const RowFiles rows("X.npy", data_);
  EXPECT_THAT(rows.pairs(dir_.write("pairs.csv", "1,4\n3,1\n")),
              ElementsAre(Pair(0, 2), Pair(1, 0)));
  for (const char* text : {"1,2\n", "1,5\n", "1,0.5\n", "-1,1\n"}) {
    const std::string path = dir_.write("bad.csv", text);
    EXPECT_THROW(rows.pairs(path), DataError) << text;
  }
  const std::string wide = dir_.write("wide.csv", "1,3,4\n");
  EXPECT_THROW(rows.pairs(wide), DataError);
}

TEST_F(RowFilesTest, KeptRowOfARowThatWasDropped) {
  const RowFiles rows("X.npy", data_);
  EXPECT_EQ(rows.kept_row(3), 1);
  EXPECT_EQ(rows.kept_row(2), -1);
  EXPECT_EQ(rows.kept_row(-1), -1);
  EXPECT_EQ(rows.kept_row(99), -1);
}

TEST_F(RowFilesTest, NumbersMayBeARowOrAColumn) {
  EXPECT_THAT(load_numbers(dir_.write("c.csv", "1\n2\n")), ElementsAre(1, 2));
  EXPECT_THAT(load_numbers(dir_.write("r.csv", "1,2,3\n")), ElementsAre(1, 2, 3));
  const std::string path = dir_.write("m.csv", "1,2\n3,4\n");
  EXPECT_THROW(load_numbers(path), DataError);
}

}  // namespace
}  // namespace milieu

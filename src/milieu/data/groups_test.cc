// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "milieu/base/error.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

Groups parse(const std::string& text, int64_t num_samples = -1) {
  return parse_groups(text, "g.txt", num_samples);
}

void expect_fault(const std::string& text, const std::string& message, int64_t num_samples = -1) {
  EXPECT_THAT([&] { parse(text, num_samples); }, ThrowsMessage<DataError>(message)) << text;
}

TEST(Groups, OneGroupALine) {
  const Groups groups = parse("4 8\n15,16, 23\t42\r\n7");
  EXPECT_EQ(groups.num_groups(), 3);
  EXPECT_EQ(groups.num_samples, 43);
  EXPECT_THAT(groups.members_of(0), ElementsAre(4, 8));
  EXPECT_THAT(groups.members_of(1), ElementsAre(15, 16, 23, 42));
  EXPECT_THAT(groups.members_of(2), ElementsAre(7));
  EXPECT_THAT(groups.names, IsEmpty());
}

TEST(Groups, DuplicatesCountAndMembersAreSorted) {
  const Groups groups = parse("8 4 8 8\n");
  EXPECT_THAT(groups.members_of(0), ElementsAre(4, 8));
  EXPECT_THAT(groups.weights_of(0), ElementsAre(1, 3));
}

TEST(Groups, NamesStandBeforeAColon) {
  const Groups groups = parse("beach: 1 2\n3\nempty:\n");
  EXPECT_THAT(groups.names, ElementsAre("beach", "", "empty"));
  EXPECT_THAT(groups.offsets, ElementsAre(0, 2, 3, 3));
}

TEST(Groups, BlankLinesAreEmptyGroupsExceptAtTheEnd) {
  EXPECT_THAT(parse("1\n\n2\n\n\n").offsets, ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(parse("\n1\n").offsets, ElementsAre(0, 0, 1));
}

TEST(Groups, CommentsAndByteOrderMarkAreSkipped) {
  EXPECT_THAT(parse("\xef\xbb\xbf# groups\n1\n#2\n3\n").offsets, ElementsAre(0, 1, 2));
}

TEST(Groups, WrongMembersNameTheirLine) {
  expect_fault("1\n2 x\n", "g.txt, line 2: \"x\" is not the row number of a sample");
  expect_fault("1.5\n", "g.txt, line 1: \"1.5\" is not the row number of a sample");
  expect_fault("-1\n", "g.txt, line 1: row number -1 must be at least 0");
  expect_fault("0 9\n", "g.txt, line 1: row number 9 must be below 9, the number of samples", 9);
  expect_fault("9223372036854775807\n",
               "g.txt, line 1: row number 9223372036854775807 is too large");
  expect_fault("caf\xe9: 1\n", "g.txt, line 1: the group name is not UTF-8 text");
  expect_fault("", "g.txt has no groups");
  expect_fault("# nothing\n\n", "g.txt has no groups");
}

TEST(Groups, SelectionRenumbersTheMembers) {
  const Groups groups = select_members(parse("a: 0 2 4 4\nb: 1\n", 5), {2, 4});
  EXPECT_EQ(groups.num_samples, 2);
  EXPECT_THAT(groups.members_of(0), ElementsAre(0, 1));
  EXPECT_THAT(groups.weights_of(0), ElementsAre(1, 2));
  EXPECT_THAT(groups.members_of(1), IsEmpty());
  EXPECT_THAT(groups.names, ElementsAre("a", "b"));
}

const std::string kBanner = "%%MatrixMarket matrix coordinate real general\n";

TEST(MatrixMarket, RowsAreGroupsAndColumnsAreSamples) {
  const Groups groups = parse(kBanner + "% a comment\n\n4 3 4\n3 2 0.5\n1 3 2\n3 1 1e0\n1 3 1\n");
  EXPECT_EQ(groups.num_samples, 3);
  EXPECT_THAT(groups.offsets, ElementsAre(0, 1, 1, 3, 3));
  EXPECT_THAT(groups.members, ElementsAre(2, 0, 1));
  EXPECT_THAT(groups.weights, ElementsAre(3, 1, 0.5)) << "entries of one place are added up";
}

TEST(MatrixMarket, PatternsHaveWeightOne) {
  const Groups groups =
      parse("%%MatrixMarket MATRIX Coordinate pattern general\n1 2 2\n1 2\n1 1\n");
  EXPECT_THAT(groups.members, ElementsAre(0, 1));
  EXPECT_THAT(groups.weights, ElementsAre(1, 1));
}

TEST(MatrixMarket, ZerosAreDropped) {
  EXPECT_THAT(parse(kBanner + "1 2 2\n1 1 0\n1 2 1\n").members, ElementsAre(1));
}

TEST(MatrixMarket, WrongBannersAreRefused) {
  expect_fault("%%MatrixMarket matrix array real general\n1 1\n1\n",
               "g.txt, line 1: must be \"%%MatrixMarket matrix coordinate <field> general\"");
  expect_fault("%%MatrixMarket matrix coordinate complex general\n",
               "g.txt, line 1: field is \"complex\", must be real, integer or pattern");
  expect_fault(
      "%%MatrixMarket matrix coordinate real symmetric\n",
      "g.txt, line 1: symmetry is \"symmetric\", must be general: rows are groups, columns "
      "are samples");
}

TEST(MatrixMarket, WrongSizesAreRefused) {
  expect_fault(kBanner, "g.txt, line 1: must be the numbers of rows, columns and entries");
  expect_fault(kBanner + "1 2\n",
               "g.txt, line 2: must be the numbers of rows, columns and entries");
  expect_fault(kBanner + "1 -2 3\n", "g.txt, line 2: \"-2\" must be a whole number of at least 0");
  expect_fault(kBanner + "1 1 999999999999\n",
               "g.txt, line 2: promises 999999999999 entries, more than the file can hold");
  expect_fault(kBanner + "999999999999 1 0\n",
               "g.txt, line 2: promises 999999999999 groups in a file of 63 bytes");
  expect_fault(kBanner + "0 1 0\n", "g.txt, line 2: has no groups");
  expect_fault(kBanner + "1 7 0\n", "g.txt has 7 columns, the data 9 samples: they must match", 9);
}

TEST(MatrixMarket, WrongEntriesAreRefused) {
  const std::string head = kBanner + "2 3 1\n";
  expect_fault(head, "g.txt, line 2: is truncated: it has 0 entries, the size line declares 1");
  expect_fault(head + "1 1\n", "g.txt, line 3: has 2 numbers, must have 3");
  expect_fault(head + "0 1 1\n", "g.txt, line 3: row is \"0\", must be 1 to 2");
  expect_fault(head + "1 4 1\n", "g.txt, line 3: column is \"4\", must be 1 to 3");
  expect_fault(head + "1 1 -1\n",
               "g.txt, line 3: weight is \"-1\", must be a finite number of at least 0");
  expect_fault(head + "1 1 nan\n",
               "g.txt, line 3: weight is \"nan\", must be a finite number of at least 0");
  expect_fault(head + "1 1 1\n1 1 1\n",
               "g.txt, line 4: the file has more entries than the size line declares");
  expect_fault(head + "1 1 1e300\n",
               "g.txt: the weight of row 1, column 1 is 1e+300, too large for a 32-bit float");
}

TEST(LoadGroups, ReadsFilesOfBothKinds) {
  const TempDir folder;
  EXPECT_EQ(load_groups(folder.write("g.txt", "0 1\n"), 2).num_groups(), 1);
  EXPECT_EQ(load_groups(folder.write("g.mtx", kBanner + "5 2 0\n"), 2).num_groups(), 5);
  EXPECT_THAT([&] { load_groups(folder.write("h.mtx", "0 1\n")); },
              ThrowsMessage<DataError>(HasSubstr("h.mtx is not a MatrixMarket file")));
  EXPECT_THAT([&] { load_groups(folder.file("no")); },
              ThrowsMessage<IoError>(HasSubstr("does not exist")));
}

}  // namespace
}  // namespace milieu

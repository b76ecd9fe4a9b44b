// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/data/format/npy.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

Labels parse(const std::string& text) { return parse_text_labels(text, "y.txt"); }

Labels from_integers(const std::vector<int64_t>& values) { return labels_from_integers(values); }

TEST(Labels, NumbersAreSortedByValue) {
  const Labels labels = from_integers({10, 9, 10, -5});
  EXPECT_THAT(labels.names, ElementsAre("-5", "9", "10"));
  EXPECT_THAT(labels.indices, ElementsAre(2, 1, 2, 0));
}

TEST(Labels, MinusOneIsNoClass) {
  EXPECT_THAT(from_integers({-1, 0, 2}).names, ElementsAre("0", "2"));
  EXPECT_THAT(from_integers({-1, 0, 2}).indices, ElementsAre(-1, 0, 1));
  EXPECT_THAT(parse("-1\ncat\n").indices, ElementsAre(-1, 0));
  EXPECT_THAT(from_integers({-1, -1}).names, IsEmpty());
}

TEST(Labels, MinusOneAndOneAreTwoClasses) {
  EXPECT_THAT(from_integers({1, -1, 1}).names, ElementsAre("-1", "1"));
  EXPECT_THAT(parse("1\n-1\n1\n").indices, ElementsAre(1, 0, 1));
}

TEST(TextLabels, OneALine) {
  const Labels labels = parse("dog\ncat\r\nliving room\ndog\n\n");
  EXPECT_THAT(labels.names, ElementsAre("cat", "dog", "living room"));
  EXPECT_THAT(labels.indices, ElementsAre(1, 0, 2, 1));
}

TEST(TextLabels, WholeNumbersAreTheSameHoweverTheyAreWritten) {
  const Labels labels = parse("3\n3.0\n3.000e+00\n10\n");
  EXPECT_THAT(labels.names, ElementsAre("3", "10"));
  EXPECT_THAT(labels.indices, ElementsAre(0, 0, 0, 1));
}

TEST(TextLabels, NumbersAmongTextAreText) {
  EXPECT_THAT(parse("10\n9\n3.50\nx\n").names, ElementsAre("10", "3.50", "9", "x"));
}

TEST(TextLabels, FractionsAreRefused) {
  EXPECT_THAT([] { parse("1\n2\n0.5\n"); },
              ThrowsMessage<DataError>(
                  "y.txt, line 3, column 1: label is 0.5, must be a whole number or text"));
  EXPECT_THAT([] { parse("1\nnan\n"); }, ThrowsMessage<DataError>(HasSubstr("label is nan")));
}

TEST(TextLabels, HeaderOfAListIsFound) {
  EXPECT_THAT(parse("label\ncat\n").indices, ElementsAre(0));
  EXPECT_THAT(parse("digit\n3\n4\n").names, ElementsAre("3", "4"));
  EXPECT_THAT(parse("lion\ncat\n").indices, ElementsAre(1, 0)) << "no header among names";
}

TEST(TextLabels, TableGivesItsLabelColumn) {
  EXPECT_THAT(parse("sample,label\n0,2\n1,0\nimg.png,2\n").indices, ElementsAre(1, 0, 1));
  EXPECT_THAT(parse("name\tclass\nx\tcat\n").names, ElementsAre("cat"));
}

TEST(TextLabels, TableWithoutLabelColumnIsRefused) {
  EXPECT_THAT([] { parse("a,b\n1,2\n"); },
              ThrowsMessage<DataError>(HasSubstr("y.txt has 2 columns and none is named label")));
  EXPECT_THAT([] { parse("1,2\n"); }, ThrowsMessage<DataError>(HasSubstr("none is named label")));
}

TEST(TextLabels, EmptyFilesAndBlankLinesAreRefused) {
  EXPECT_THAT([] { parse(""); }, ThrowsMessage<DataError>("y.txt is empty (0 bytes)"));
  EXPECT_THAT([] { parse("a\n\nb\n"); }, ThrowsMessage<DataError>(HasSubstr("line 2")));
}

TEST(LoadLabels, ReadsNpyOfNumbersAndText) {
  const TempDir folder;
  const std::string path = folder.file("y.npy");
  write_npy(path, std::span<const float>(std::vector<float>{2, 0, -1}));
  EXPECT_THAT(load_labels(path).indices, ElementsAre(1, 0, -1));
  folder.write("t.npy", std::string("\x93NUMPY\x01\x00\x3a\x00", 10) +
                            "{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }\n" +
                            std::string("cat\0\0\0", 6).replace(3, 3, "ant"));
  EXPECT_THAT(load_labels(folder.file("t.npy")).names, ElementsAre("ant", "cat"));
  write_npy(path, std::span<const float>(std::vector<float>{0.5}));
  EXPECT_THAT([&] { load_labels(path); }, ThrowsMessage<DataError>(HasSubstr("y.npy: row 0")));
}

TEST(LoadLabels, EmptyArrayIsRefused) {
  const TempDir folder;
  write_npy(folder.file("y.npy"), std::span<const int32_t>());
  EXPECT_THAT([&] { load_labels(folder.file("y.npy")); },
              ThrowsMessage<DataError>(HasSubstr("y.npy has no labels")));
}

TEST(LoadLabels, ReadsIdx) {
  const TempDir folder;
  folder.write("y", std::string("\0\0\x08\x01\0\0\0\x03\x07\x05\x07", 11));
  EXPECT_THAT(load_labels(folder.file("y")).names, ElementsAre("5", "7"));
}

TEST(LoadLabels, FolderMeansItsLabelsCsv) {
  const TempDir folder;
  std::filesystem::create_directory(folder.file("run"));
  folder.write("run/labels.csv", "sample,label\n0,1\n1,0\n");
  EXPECT_THAT(load_labels(folder.file("run")).indices, ElementsAre(1, 0));
  EXPECT_THAT([&] { load_labels(folder.path()); },
              ThrowsMessage<IoError>(HasSubstr("labels.csv does not exist")));
}

TEST(LoadLabels, ManyClassesKeepTheirOrder) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string((i * 7919) % 5000) + "\n";
  const Labels labels = parse(text);
  ASSERT_EQ(labels.names.size(), 5000u);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(labels.indices[static_cast<size_t>(i)], i * 7919 % 5000);
}

}  // namespace
}  // namespace milieu

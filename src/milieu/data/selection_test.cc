// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "milieu/base/error.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Labels kDigits = {{0, 1, 2, 3, -1, 2}, {"0", "1", "3", "10"}};
const Labels kWords = {{0, 1, 2}, {"0-3", "brick", "sand, wet"}};

std::vector<int64_t> rows_of(const std::string& selection, const Labels& labels) {
  return kept_rows(labels, kept_classes(selection, labels, "y.npy"));
}

TEST(Selection, ItemsAreSeparatedByCommas) {
  EXPECT_THAT(parse_selection("6, 0 ,brick"), ElementsAre("6", "0", "brick"));
  EXPECT_THAT(parse_selection("\"sand, wet\",\"a \"\"b\"\"\""),
              ElementsAre("sand, wet", "a \"b\""));
}

TEST(Selection, RowsStayInFileOrder) {
  EXPECT_THAT(rows_of("3,0", kDigits), ElementsAre(0, 2, 5));
  EXPECT_THAT(rows_of("3,3,0", kDigits), ElementsAre(0, 2, 5));
  EXPECT_THAT(rows_of("brick,\"sand, wet\"", kWords), ElementsAre(1, 2));
}

TEST(Selection, RangesKeepTheClassesBetween) {
  EXPECT_THAT(rows_of("0-3", kDigits), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(rows_of("2-99,0", kDigits), ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(rows_of("0-3", kWords), ElementsAre(0)) << "a class of that name comes first";
  const Labels negative = {{0, 1, 2}, {"-5", "-2", "4"}};
  EXPECT_THAT(rows_of("-5--2", negative), ElementsAre(0, 1));
}

TEST(Selection, NumbersMayBeWrittenDifferently) {
  EXPECT_THAT(rows_of("03,1.0", kDigits), ElementsAre(1, 2, 5));
}

TEST(Selection, UnknownClassListsTheKnownOnes) {
  EXPECT_THAT(
      [] { rows_of("0,7", kDigits); },
      ThrowsMessage<InvalidArgument>("y.npy has no class \"7\"; its classes are 0, 1, 3, 10"));
  EXPECT_THAT([] { rows_of("4-9", kDigits); },
              ThrowsMessage<InvalidArgument>(HasSubstr("has no class \"4-9\"")));
  Labels many;
  for (int i = 0; i < 100; ++i) many.names.push_back("c" + std::to_string(i));
  EXPECT_THAT([&] { rows_of("x", many); },
              ThrowsMessage<InvalidArgument>(HasSubstr("c18, c19, ... (100 in all)")));
}

TEST(Selection, EveryNameCanBeWritten_issue20) {
  const std::vector<std::string> names = {"a\nb",  "\x1b[31m", "\x7f",  " a ", "a,b",
                                          "\"q\"", "=1+1",     "\\x41", "A",   "caf\xe9"};
  Labels labels{{}, names};
  for (const std::string& name : names) {
    const std::vector<bool> kept = kept_classes(selection_item(name), labels, "x");
    for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(kept[i], names[i] == name) << name;
  }
  EXPECT_TRUE(kept_classes("\\x41", labels, "x")[7]) << "as it is typed, if there is such a class";
}

TEST(Selection, WrongSyntaxIsRefused) {
  for (const char* text : {"", " ", "6,,0", "6,", ",6"})
    EXPECT_THAT([&] { parse_selection(text); },
                ThrowsMessage<InvalidArgument>(HasSubstr("must have a class between commas")));
  for (const char* text : {"\"a", "\"a\"b"})
    EXPECT_THAT([&] { parse_selection(text); },
                ThrowsMessage<InvalidArgument>(HasSubstr("a quote must open and close an item")));
  EXPECT_THAT([] { parse_selection("a\nb"); },
              ThrowsMessage<InvalidArgument>(HasSubstr("line break")));
  EXPECT_THAT([] { rows_of("3-0", kDigits); },
              ThrowsMessage<InvalidArgument>("select has the range 3-0, must be from low to high"));
}

TEST(Selection, ClassesThatAreGoneAreDropped) {
  const Labels some = gather_labels(kDigits, {5, 0, 4});
  EXPECT_THAT(some.names, ElementsAre("0", "3"));
  EXPECT_THAT(some.indices, ElementsAre(1, 0, -1));
}

}  // namespace
}  // namespace milieu

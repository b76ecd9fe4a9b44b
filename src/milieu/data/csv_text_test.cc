// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/csv_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace milieu {
namespace {

using ::testing::ElementsAre;

TEST(CsvText, PlainTextStaysAsItIs) { EXPECT_EQ(csv_cell("lake/a-1.jpg"), "lake/a-1.jpg"); }

TEST(CsvText, CellsThatReadersWouldChangeAreQuoted) {
  EXPECT_EQ(csv_cell(""), "\"\"");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_cell(" a"), "\" a\"");
  EXPECT_EQ(csv_cell("#1"), "\"#1\"");
}

TEST(CsvText, ControlCharactersStayOnOneLine) { EXPECT_EQ(csv_cell("a\nb\x7f"), "a\\x0ab\\x7f"); }

TEST(CsvText, SpreadsheetsSeeNoFormula_issue20) {
  EXPECT_EQ(csv_cell("=cmd|'/c calc'!A1"), "\\x3dcmd|'/c calc'!A1");
  EXPECT_EQ(csv_cell("+1,2"), "\"\\x2b1,2\"");
  EXPECT_EQ(csv_cell("@SUM(A1)"), "\\x40SUM(A1)");
  EXPECT_EQ(csv_cell("a=b"), "a=b");
  EXPECT_EQ(csv_cell("-1"), "-1");
}

TEST(CsvText, EveryCellReadsBack) {
  for (const std::string text : {"plain", "", "a,b", "\"", "line\nbreak", "\\x0a", "\\", "\\\\x41",
                                 " blanks ", "\x1b[31m", "=1+1", "@", "caf\xc3\xa9", "\xff\xfe"}) {
    const auto records = read_csv_records("head,er\n" + csv_cell(text) + ",1\n");
    ASSERT_EQ(records.size(), 1u) << text;
    EXPECT_THAT(records[0], ElementsAre(text, "1"));
  }
}

TEST(CsvText, LastLineNeedsNoLineEnd) {
  EXPECT_THAT(read_csv_records("a\n1\n2"), ElementsAre(ElementsAre("1"), ElementsAre("2")));
  EXPECT_TRUE(read_csv_records("").empty());
  EXPECT_TRUE(read_csv_records("header\n").empty());
}

}  // namespace
}  // namespace milieu

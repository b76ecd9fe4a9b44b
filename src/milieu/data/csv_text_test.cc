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

TEST(CsvWriter, CellsAreWrittenByTheirKind) {
  CsvWriter table;
  table.row("name", "whole", "real", "single", "none");
  table.row(std::string("a, b"), size_t{7}, 0.1, 0.1f, std::optional<std::string>());
  table.row(std::string_view(""), -1, 1e300, 2.0f, std::optional<int>(4));
  EXPECT_EQ(table.text(), "name,whole,real,single,none\n\"a, b\",7,0.1,0.1,\n\"\",-1,1e+300,2,4\n");
  const auto records = read_csv_records(table.text());
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0][0], "a, b");
  EXPECT_EQ(records[0][4], "");
}

TEST(CsvWriter, RowsMayBeWrittenCellByCell) {
  CsvWriter table;
  for (const int value : {1, 2, 3}) table.cell(value);
  table.end_row();
  table.cell("=1");
  table.end_row();
  EXPECT_EQ(table.text(), "1,2,3\n\\x3d1\n");
}

}  // namespace
}  // namespace milieu

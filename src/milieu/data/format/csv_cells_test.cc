// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/csv_cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace milieu {
namespace {

using namespace internal;

using ::testing::ElementsAre;

std::vector<std::string> cells(std::string_view line, char delimiter) {
  std::vector<std::string> texts;
  for (const Cell& cell : split_line(line, delimiter)) texts.push_back(cell.str());
  return texts;
}

CellEnd end_of_first(std::string_view line, char delimiter = ',') {
  Cell cell;
  size_t at = 0;
  return read_cell(line, at, delimiter, cell);
}

TEST(CsvCells, DelimitersSeparateAndBlanksAreTrimmed) {
  EXPECT_THAT(cells("a, b ,\tc", ','), ElementsAre("a", "b", "c"));
  EXPECT_THAT(cells("a,,c,", ','), ElementsAre("a", "", "c", ""));
  EXPECT_THAT(cells("", ','), ElementsAre(""));
  EXPECT_THAT(cells("a b\t\tc", '\t'), ElementsAre("a b", "", "c"));
  EXPECT_THAT(cells("a b, c", kNoDelimiter), ElementsAre("a b, c"));
}

TEST(CsvCells, RunsOfBlanksAreOneDelimiter) {
  EXPECT_THAT(cells("  1   2\t 3  ", kBlanksDelimiter), ElementsAre("1", "2", "3"));
}

TEST(CsvCells, QuotesProtectDelimitersAndDoubledQuotes) {
  EXPECT_THAT(cells("\"a, b\" , \"c \"\"d\"\"\",\"\"", ','), ElementsAre("a, b", "c \"d\"", ""));
  EXPECT_THAT(cells("\"a b\" c", kBlanksDelimiter), ElementsAre("a b", "c"));
  EXPECT_THAT(cells("5\" disk,x", ','), ElementsAre("5\" disk", "x"));
  EXPECT_THAT(cells("\"\"\"\"", ','), ElementsAre("\""));
}

TEST(CsvCells, QuotesThatDoNotFitAreReported) {
  EXPECT_EQ(end_of_first("\"a,b"), CellEnd::QuoteNeverClosed);
  EXPECT_EQ(end_of_first("\"a\"\""), CellEnd::QuoteNeverClosed);
  EXPECT_EQ(end_of_first("\"a\"b,c"), CellEnd::TextAfterQuote);
  EXPECT_EQ(end_of_first("\"a\"b c", kBlanksDelimiter), CellEnd::TextAfterQuote);
  EXPECT_EQ(end_of_first("\"a\" "), CellEnd::LineEnd);
  EXPECT_EQ(end_of_first("a,"), CellEnd::Delimiter);
}

TEST(CsvCells, LinesEndInLfOrCrlf) {
  std::string_view text = "a\r\n\nb";
  EXPECT_EQ(take_line(text), "a");
  EXPECT_EQ(take_line(text), "");
  EXPECT_EQ(take_line(text), "b");
  EXPECT_TRUE(text.empty());
}

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/csv.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

CsvTable parse(const std::string& text, const std::string& label_column = "") {
  CsvOptions options;
  options.label_column = label_column;
  return parse_csv(text, "t.csv", options);
}

std::vector<float> numbers(const std::string& text, const std::string& label_column = "") {
  const CsvTable table = parse(text, label_column);
  return {table.numbers.data(), table.numbers.data() + table.numbers.size()};
}

void expect_fault(const std::string& text, const std::string& message) {
  EXPECT_THAT([&] { parse(text); }, ThrowsMessage<DataError>(message)) << text;
}

TEST(Csv, FindsItsDelimiter) {
  for (const char* text : {"1,2\n3,4\n", "1\t2\n3\t4\n", "1;2\n3;4\n", "1 2\n3 4\n",
                           "1  2 \n 3\t4\n", "1 , 2\n3,4\n", "1;2\r\n3;4"}) {
    const CsvTable table = parse(text);
    EXPECT_EQ(table.numbers.rows(), 2) << text;
    EXPECT_THAT(numbers(text), ElementsAre(1, 2, 3, 4)) << text;
  }
  EXPECT_EQ(parse("1\n2\n3\n").numbers.cols(), 1);
}

TEST(Csv, GivenDelimiterOverrulesTheOneFound) {
  CsvOptions options;
  options.delimiter = '\t';
  EXPECT_EQ(parse_csv("a;b\tc\n1\t2\n", "t.tsv", options).numbers.cols(), 2);
}

TEST(Csv, HeaderIsFoundByItself) {
  EXPECT_THAT(parse("a,b\n1,2\n").column_names, ElementsAre("a", "b"));
  EXPECT_THAT(parse("a,2\n1,2\n").column_names, ElementsAre("a", "2"));  // text over a number
  EXPECT_THAT(parse("\"x, y\",b\n1,2\n").column_names, ElementsAre("x, y", "b"));
  EXPECT_THAT(parse("1,2\n3,4\n").column_names, IsEmpty());
}

// Else a damaged first row would silently become a header.
TEST(Csv, DamagedNumbersAreNoHeader) {
  for (const char* cell : {"1x", "?", "N/A", "null", "nan", "-", "1.5.2"}) {
    EXPECT_THAT([&] { parse(fmt::format("{},2\n3,4\n", cell)); },
                ThrowsMessage<DataError>(HasSubstr("t.csv, line 1, column 1: ")))
        << cell;
  }
}

TEST(Csv, HeaderIsFoundByTheNameOfTheLabelColumn) {
  // Nothing else distinguishes this header from data: below the text there is text, below numbers
  // numbers.
  EXPECT_THAT(numbers("kind,0,1\ncat,5,6\n", "kind"), ElementsAre(5, 6));
}

TEST(Csv, ByteOrderMarkCommentsAndBlankLinesAreSkipped) {
  EXPECT_THAT(numbers("\xef\xbb\xbf# made by hand\n\n  \n#\n1,2\n3,4\n\n \r\n\n"),
              ElementsAre(1, 2, 3, 4));
}

TEST(Csv, NumbersMayBeQuotedAndSigned) {
  EXPECT_THAT(numbers("\"1\",+2\n-3,\"4e0\"\n"), ElementsAre(1, 2, -3, 4));
}

TEST(Csv, LabelColumnByName) {
  const CsvTable table = parse("x,kind,y\n1,dog,2\n3,\"cat, \"\"tom\"\"\",4\n5,dog,6\n", "kind");
  EXPECT_THAT(table.column_names, ElementsAre("x", "y"));
  EXPECT_THAT(table.labels.names, ElementsAre("cat, \"tom\"", "dog"));
  EXPECT_THAT(table.labels.indices, ElementsAre(1, 0, 1));
  EXPECT_EQ(table.numbers(2, 1), 6);
}

TEST(Csv, LabelColumnByNumberFromEitherEnd) {
  EXPECT_THAT(parse("5.1,3.5,setosa\n4.9,3.0,virginica\n", "3").labels.names,
              ElementsAre("setosa", "virginica"));
  EXPECT_THAT(parse("5.1,3.5,setosa\n4.9,3.0,virginica\n", "-1").labels.indices, ElementsAre(0, 1));
  EXPECT_THAT(numbers("7,1\n8,2\n", "1"), ElementsAre(1, 2));
  EXPECT_THAT(numbers("2,1\n8,9\n10,11\n", "2"), ElementsAre(2, 8, 10)) << "a number, no header";
}

TEST(Csv, ColumnsCalledLabelOrClassAreLabels) {
  for (const char* name : {"label", "Label", "class", "CLASS"}) {
    const CsvTable table = parse(fmt::format("a,{}\n1,3\n2,10\n", name));
    EXPECT_THAT(table.labels.names, ElementsAre("3", "10"));
    EXPECT_EQ(table.numbers.cols(), 1);
  }
  EXPECT_TRUE(parse("a,labels\n1,3\n").labels.empty());
}

TEST(Csv, FirstColumnWithoutANameHoldsRowNames) {
  const CsvTable table = parse(",a,b\nr1,1,2\n\"r, 2\",3,4\n");
  EXPECT_THAT(table.row_names, ElementsAre("r1", "r, 2"));
  EXPECT_THAT(table.column_names, ElementsAre("a", "b"));
  EXPECT_EQ(table.numbers(1, 0), 3);
  EXPECT_THAT(numbers(",0,1\n0,5,6\n1,7,8\n"), ElementsAre(5, 6, 7, 8)) << "pandas, no names";
}

TEST(Csv, UnknownLabelColumnListsTheColumns) {
  EXPECT_THAT(
      [] { parse("a,b\n1,2\n", "c"); },
      ThrowsMessage<InvalidArgument>("label_column is \"c\", but t.csv has the columns a, b"));
  EXPECT_THAT([] { parse("1,2\n", "3"); },
              ThrowsMessage<InvalidArgument>("label_column is \"3\", but t.csv has no header: must "
                                             "be 1 to 2, or -1 for the last column"));
  EXPECT_THAT([] { parse("1,2\n", "-3"); }, ThrowsMessage<InvalidArgument>(HasSubstr("-3")));
}

TEST(Csv, TwoLabelColumnsAreRefused) {
  expect_fault(
      "label,a,class\n1,2,3\n",
      "t.csv: columns 1 and 3 are both named like the label column: give its number instead");
  EXPECT_THAT(numbers("label,a,class\n1,2,3\n", "class"), ElementsAre(1, 2));
}

TEST(Csv, TableWithoutNumbersIsRefused) {
  expect_fault("label\n1\n", "t.csv has no columns of numbers beside its labels");
}

TEST(Csv, EmptyTablesAreRefused) {
  expect_fault("", "t.csv is empty (0 bytes)");
  expect_fault("\n \n", "t.csv has no rows");
  expect_fault("# nothing\n", "t.csv has no rows");
  expect_fault("\xef\xbb\xbf", "t.csv has no rows");
  expect_fault("a,b\n", "t.csv has a header and no rows");
}

TEST(Csv, RaggedLinesNameLineAndCounts) {
  expect_fault(
      "a,b\n1,2\n3\n",
      "t.csv, line 3 has 1 cell, the lines before have 2: every line must have the same number");
  expect_fault(
      "1,2\n3,4\n5,6,7\n",
      "t.csv, line 3 has 3 cells, the lines before have 2: every line must have the same number");
  expect_fault(
      "1 2\n3 4 5\n",
      "t.csv, line 2 has 3 cells, the lines before have 2: every line must have the same number");
  expect_fault(
      "1,2\n3,4,\n",
      "t.csv, line 2 has 3 cells, the lines before have 2: every line must have the same number");
}

TEST(Csv, TextInANumberColumnSaysHowToNameTheLabelColumn) {
  expect_fault("a,kind\n1,cat\n",
               "t.csv, line 2, column 2 (kind): \"cat\" is not a number; if this column holds the "
               "classes, set label_column to \"kind\"");
  expect_fault("1,2\n3,x\n",
               "t.csv, line 2, column 2: \"x\" is not a number; if this column holds the classes, "
               "set label_column to \"2\"");
  expect_fault("1,2\n3,4x\n",
               "t.csv, line 2, column 2: \"4x\" is not a number; if this column holds the classes, "
               "set label_column to \"2\"");
}

TEST(Csv, DecimalCommasAreRecognised) {
  expect_fault("1,5;2\n3;4\n",
               "t.csv, line 1, column 1: \"1,5\" has a decimal comma, must have a decimal point");
}

TEST(Csv, EmptyCellsAreNamed) {
  expect_fault("a,b\n1,\n", "t.csv, line 2, column 2 (b): empty cell, must be a number");
  expect_fault("1,2\n\"\",4\n", "t.csv, line 2, column 1: empty cell, must be a number");
  expect_fault(",2\n3,4\n", "t.csv, line 1, column 1: empty cell, must be a number");
  expect_fault("a,label\n1,\n",
               "t.csv, line 2, column 2 (label): empty cell, must hold a label (-1 means none)");
}

TEST(Csv, BlankLineInTheMiddleIsRefused) {
  const std::string message = "t.csv, line 2 is blank; blank lines are allowed only at the end";
  expect_fault("1,2\n\n3,4\n", message);
  expect_fault("1\n \n3\n", message);
  expect_fault("1\t2\n\t\n3\t4\n", message);
}

TEST(Csv, NanAndInfAreNamedByLineAndColumn) {
  expect_fault("1,2\n3,nan\n", "t.csv, line 2, column 2: NaN, must be a finite number");
  expect_fault("1,2\n-INF,4\n", "t.csv, line 2, column 1: Inf, must be a finite number");
  expect_fault("1,2\n\"nan\",4\n", "t.csv, line 2, column 1: NaN, must be a finite number");
  expect_fault("1e39\n", "t.csv, line 1, column 1: 1e39 is too large for a 32-bit float");
  expect_fault("1e999\n", "t.csv, line 1, column 1: 1e999 is too large for a 32-bit float");
}

TEST(Csv, NanAndInfCanBeAllowed) {
  CsvOptions options;
  options.allow_non_finite = true;
  const CsvTable table = parse_csv("1,nan\n-inf,1e39\n", "t.csv", options);
  EXPECT_TRUE(std::isnan(table.numbers(0, 1)));
  EXPECT_EQ(table.numbers(1, 0), -INFINITY);
  EXPECT_EQ(table.numbers(1, 1), INFINITY);
}

TEST(Csv, QuotesMustCloseOnTheirLine) {
  expect_fault("1,2\n\"3\n4\",5\n",
               "t.csv, line 2, column 1: the quote is not closed on this line; line breaks inside "
               "cells are not read");
  expect_fault("1,2\n\"3\"x,5\n", "t.csv, line 2, column 1: text after the closing quote");
}

TEST(Csv, OtherEncodingsAreRefused) {
  expect_fault(std::string("\xff\xfe"
                           "1\0\n\0",
                           6),
               "t.csv is UTF-16 text, must be UTF-8: save it again as UTF-8");
  expect_fault(std::string("1,2\n\0", 5), "t.csv is not text: byte 4 is zero");
  expect_fault(
      "1,2\r3,4\r",
      "t.csv, line 1: a carriage return without a line feed; lines must end in LF or CRLF");
}

TEST(Csv, NamesMustBeUtf8) {
  expect_fault("a,b\xe9\n1,2\n", "t.csv, line 1, column 2: the column name is not UTF-8 text");
  expect_fault(",b\nr\xe9,2\n", "t.csv, line 2, column 1: the row name is not UTF-8 text");
  expect_fault("a,label\n1,caf\xe9\n",
               "t.csv, line 2, column 2 (label): label is \"caf\\xe9\", must be UTF-8 text");
  EXPECT_THAT(parse("a,label\n1,caf\xc3\xa9\n").labels.names, ElementsAre("caf\xc3\xa9"));
}

TEST(Csv, LineNumbersCountEverythingAbove) {
  expect_fault("# one\n\na,b\r\n1,2\r\n3,x\r\n",
               "t.csv, line 5, column 2 (b): \"x\" is not a number; if this column holds the "
               "classes, set label_column to \"b\"");
}

// Fewer characters than cells promised: the fault is found without room for all cells.
TEST(Csv, WideHeaderOverManyShortLinesTakesNoMemory) {
  std::string text = "1";
  for (int i = 1; i < 100'000; ++i) text += ",1";
  text += "\n";
  for (int i = 0; i < 100'000; ++i) text += "1\n";  // 10^10 cells are promised
  EXPECT_THAT([&] { parse(text); },
              ThrowsMessage<DataError>("t.csv, line 2 has 1 cell, the lines before have 100000: "
                                       "every line must have the same number"));
}

TEST(Csv, FractionsAreNoLabels) {
  EXPECT_THAT([] { parse("a,label\n1,2\n1,0.5\n"); },
              ThrowsMessage<DataError>(
                  "t.csv, line 3, column 2 (label): label is 0.5, must be a whole number or text"));
}

// A random table, printed in several ways, against the numbers it was printed from.
TEST(Csv, BlocksAndThreadsDoNotMatter) {
  Random random(1);
  std::string text = "a,kind,b\r\n";
  std::vector<float> expected;
  std::vector<int> classes;
  for (int i = 0; i < 2000; ++i) {
    const float a = static_cast<float>(random.normal() * std::pow(10.0, i % 60 - 30));
    const float b = static_cast<float>(i);
    classes.push_back(static_cast<int>(random.uniform_index(3)));
    expected.insert(expected.end(), {a, b});
    text += fmt::format("{},{}class {}{}, {:.3e}\r\n", a, i % 2 ? "\"" : "", classes.back(),
                        i % 2 ? "\"" : "", b);
  }
  for (const int64_t block_bytes : {1, 7, 1000, 1 << 20}) {
    for (const int threads : {1, 4}) {
      CsvOptions options;
      options.label_column = "kind";
      options.block_bytes = block_bytes;
      options.num_threads = threads;
      const CsvTable table = parse_csv(text, "t.csv", options);
      ASSERT_EQ(table.numbers.rows(), 2000);
      EXPECT_EQ(std::vector<float>(table.numbers.data(), table.numbers.data() + 4000), expected);
      EXPECT_EQ(table.labels.indices, classes);
      EXPECT_THAT(table.labels.names, ElementsAre("class 0", "class 1", "class 2"));
    }
  }
}

TEST(Csv, FirstFaultOfTheFileIsReportedForAnyNumberOfThreads) {
  std::string text;
  for (int i = 1; i <= 3000; ++i) text += i % 700 == 0 ? "x\n" : "1\n";
  for (const int threads : {1, 4}) {
    CsvOptions options;
    options.block_bytes = 100;
    options.num_threads = threads;
    EXPECT_THAT([&] { parse_csv(text, "t.csv", options); },
                ThrowsMessage<DataError>(HasSubstr("line 700, column 1: \"x\"")));
  }
}

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Tables in text files: .csv, .tsv and their relatives. docs/input.md has the rules with examples.
//
// Delimiter: tab, semicolon or comma, the first of these that the first line has outside quotes;
//   none of them: runs of blanks.
// Header: the first line is one when none of its cells is a number, or when one looks like a name
// (it
//   starts with a letter) over a number, or when one is the label column's name.
// Columns: numbers become the points. The label column (named, or called "label" or "class" in any
//   case) becomes the classes. A first column whose header is empty holds row names, as pandas and
//   R write them.
// Cells: blanks around them are ignored; quotes ("a, ""b""") are understood. A line break inside
//   quotes is refused: lines can then be read in parallel.
// Lines: LF or CRLF; a byte order mark, lines that start with # at the top, and blank lines at the
//   top and at the end are skipped.
// Every error message names line and column, both counted from 1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/labels.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct CsvOptions {
  // Column that holds the classes: its name in the header, or its number from 1, or from the end as
  // -1, -2, ...
  std::string label_column;
  char delimiter = 0;             // 0: detected; ' ': runs of blanks
  bool allow_non_finite = false;  // else nan and inf are refused
  int num_threads = 0;
  int64_t block_bytes = int64_t{1} << 20;  // amount of text parsed at a time; no effect on results
};

struct CsvTable {
  Matrix<float> numbers;                  // rows x number columns
  std::vector<std::string> column_names;  // of the numbers; empty without a header
  Labels labels;                          // empty without a label column
  std::vector<std::string> row_names;     // empty without a column of names
};

// Throws DataError for what the text says, InvalidArgument for a label column that it does not
// have. The result does not depend on num_threads or block_bytes.
CsvTable parse_csv(std::string_view text, const std::string& source,
                   const CsvOptions& options = {});

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// What a command's INPUT becomes: points (rows of float), with classes and names where there are
// any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/labels.h"
#include "milieu/data/points.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct Dataset {
  Points points;
  Labels labels;                          // empty when no classes are known
  std::vector<std::string> sample_names;  // file names or ids; empty: rows are their own names
  std::vector<int64_t> rows;              // original row of each kept sample; empty: all were kept
  std::vector<int64_t> sample_shape;      // of one sample before flattening: {28, 28}, or {cols}
  int64_t total_rows = 0;                 // before the selection
  std::string source;                     // the path, for messages
};

struct LoadOptions {
  std::string labels_path;   // label file that gives classes to the rows
  std::string label_column;  // for .csv/.tsv: the column that holds the class (csv.h)
  std::string select;        // "6,0": keep these classes, in file order; needs classes
  std::vector<int64_t>
      rows;  // keep these rows, ascending, of those that `select` keeps; empty: all
  bool allow_non_finite = false;  // else NaN and Inf are refused by row and column
  int num_threads = 0;            // 0 means all cores; no effect on the result
};

// Reads a .npy, .csv, .tsv, idx (also .gz) file; the kind follows from the first bytes, so pipes
// and files of any name work. An image folder is refused with a hint (features turn images into
// numbers). Throws IoError or DataError with the file named, InvalidArgument for an option.
//
// Memory: float32 .npy in C order is mapped, not copied, as long as one stretch of rows is kept;
// any other file is converted once, kept rows only (text: all rows, then the kept ones). A file is
// opened by its header, but unless allow_non_finite is set the kept rows are then read once, in
// parallel, to look for NaN and Inf: for 2 GB that is the time of reading 2 GB.
Dataset load_dataset(const std::string& path, const LoadOptions& options = {});

// The same from rows that are in memory already (features of images): joins the label file,
// applies the selection. `labels` are what the data itself says, `names` one per row; both may be
// empty. Label columns do not exist here; NaN and Inf are not checked for.
Dataset make_dataset(Points points, Labels labels, std::vector<std::string> names,
                     const std::string& source, const LoadOptions& options = {});

}  // namespace milieu

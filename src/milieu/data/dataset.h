// SPDX-License-Identifier: Apache-2.0
// What a command's INPUT becomes: points (rows of float), with classes and names where there are any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "milieu/linalg/matrix.h"

namespace milieu {

// An n x d float matrix that keeps its memory alive: a mapped file (float32, C order: no copy) or a
// converted matrix. Cheap to copy: copies share the memory.
class Points {
 public:
  Points() = default;
  explicit Points(Matrix<float> matrix);                                // owns
  Points(FloatView view, std::shared_ptr<const void> owner);            // shares `owner`'s memory

  FloatView view() const { return view_; }
  int64_t rows() const { return view_.rows(); }
  int64_t cols() const { return view_.cols(); }
  bool is_mapped() const { return is_mapped_; }

 private:
  FloatView view_;
  std::shared_ptr<const void> owner_;
  bool is_mapped_ = false;
};

// Classes of samples: indices into names. Names are sorted: by number when all of them are whole
// numbers, else by text.
struct Labels {
  std::vector<int> indices;        // class of each sample, in [0, names.size()); -1: none
  std::vector<std::string> names;  // "0", "1", ... or "brick", "grass", ...

  bool empty() const { return indices.empty(); }
};

struct Dataset {
  Points points;
  Labels labels;                            // empty when no classes are known
  std::vector<std::string> sample_names;    // file names or ids; empty: rows are their own names
  std::vector<int64_t> rows;                // original row of each kept sample; empty: all were kept
  std::string source;                       // the path, for messages
};

struct LoadOptions {
  std::string labels_path;    // label file that gives classes to the rows
  std::string label_column;   // for .csv/.tsv: the column that holds the class
  std::string select;         // "6,0": keep these classes, in file order; needs classes
  bool allow_non_finite = false;  // else NaN and Inf are refused by row and column
};

// Reads a .npy, .csv, .tsv, idx (also .gz) file. An image folder is refused with a hint (features
// turn images into numbers). Throws IoError or DataError with the file named.
Dataset load_dataset(const std::string& path, const LoadOptions& options = {});

// Reads classes: .npy of whole numbers, idx, or text/CSV (one a line; a column named "label" is
// found by itself, a run folder's labels.csv too).
Labels load_labels(const std::string& path);

}  // namespace milieu

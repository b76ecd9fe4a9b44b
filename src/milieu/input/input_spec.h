// SPDX-License-Identifier: Apache-2.0
// What to read and how: the same for all methods, the command line, the explorer and bindings.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/inputs.h"
#include "milieu/data/dataset.h"

namespace MILIEU_API milieu {

// INPUT and how it is read. Empty texts mean "not given".
struct InputSpec {
  std::string path = {};
  std::string labels = {};
  std::string label_column = {};
  std::string select = {};
  std::string rows = {};
  std::string truth = {};
  std::string image_size = {};
  std::string feature = {};
  std::string max_side = {};
  std::string codebook = {};
  std::string vectors = {};
  std::string vector_names = {};
  // Not an option: NaN and infinity are left for the method to find, in the rows that it reads.
  bool allow_non_finite = false;
};

template <class Visitor>
void visit_fields(InputSpec& o, Visitor&& v) {
  v("path", o.path, anything(), "the file or folder to read");
  v("labels", o.labels, anything(), "file with the class of every row");
  v("label_column", o.label_column, anything(), "column of a .csv or .tsv that holds the class");
  v("select", o.select, anything(), "keep only the rows of these classes, such as 6,0");
  v("rows", o.rows, anything(),
    "file with the numbers of the rows to keep, counted from 0, one per line");
  v("truth", o.truth, anything(),
    "file with the true class of every row: adds metrics (default: --labels or --label-column)");
  v("image_size", o.image_size, anything(),
    "rows are grey images of this size, such as 16x16: the report shows them");
  v("feature", o.feature, anything(),
    "INPUT is an image folder: what is computed from the images, such as gist or "
    "dense-sift:words=400 (see milieu help features)");
  v("max_side", o.max_side, anything(),
    "scale images down until no side is longer than this (default 1024; 0: no limit)");
  v("codebook", o.codebook, anything(),
    "visual words computed elsewhere, for local features: a .npy, a run folder or a feature "
    "folder");
  v("vectors", o.vectors, anything(),
    "INPUT is an image folder: its vectors, computed elsewhere (.npy, .npz, .safetensors), one row "
    "per image in the order of the sorted names");
  v("vector_names", o.vector_names, anything(),
    "the image that each row of --vectors describes, one name per line");
}

// The files that give a method its further inputs, by name; a repeated input has one path per line.
// A Samples input NAME may be given by NAME_select or NAME_rows instead: rows of INPUT.
class InputFiles {
 public:
  InputFiles() = default;
  explicit InputFiles(std::vector<InputField> declared);

  // One text field per file; they refer to this object.
  std::vector<Field> fields();
  // "" when not given.
  const std::string& operator[](std::string_view name) const;
  bool has(std::string_view name) const { return !(*this)[name].empty(); }

 private:
  struct Entry {
    std::string name, help, path;
    bool is_repeated = false;
  };
  std::vector<Entry> entries_;
};

// The placeholder for the value of an input flag in the help: FILE, DIR, LIST, CLASSES.
std::string input_value_name(const Field& field);

struct ImageSize {
  int width = 0;  // 0: rows are not images
  int height = 0;
};

// From "16x16" (width x height), or "" for none. Throws InvalidArgument for anything else.
ImageSize parse_image_size(const std::string& text);

// The size of the images in `data`: as given, else as the file says (idx, or .npy of three
// dimensions). Throws InvalidArgument when the given size does not fit the columns.
ImageSize image_size_of(const Dataset& data, const std::string& given);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// What a run was asked to do: the input it read and the options of its method. Written as
// options.json into the run folder and read back by --options:
//
//   {"method": "kmeans", "version": "0.1.0",
//    "input": {"path": "X.npy", "labels": "labels.npy", "select": "6,0"},
//    "options": {"num_clusters": 2, ...}}
#pragma once

#include <string>
#include <vector>

#include "milieu/base/fields.h"

namespace milieu::cli {

// INPUT and how it is read: the same for all methods. Empty texts mean "not given".
struct InputOptions {
  std::string path;
  std::string labels;
  std::string label_column;
  std::string select;
  std::string rows;
  std::string truth;
  std::string image_size;
  std::string feature;
  std::string max_side;
  std::string codebook;
};

template <class Visitor>
void visit_fields(InputOptions& o, Visitor&& v) {
  v("path", o.path, anything(), "the file to cluster");
  v("labels", o.labels, anything(), "file with the class of every row");
  v("label_column", o.label_column, anything(), "column of a .csv or .tsv that holds the class");
  v("select", o.select, anything(), "keep only the rows of these classes, such as 6,0");
  v("rows", o.rows, anything(),
    "file with the numbers of the rows to keep, counted from 0, one a line");
  v("truth", o.truth, anything(),
    "file with the true class of every row: adds metrics (default: --labels or --label-column)");
  v("image_size", o.image_size, anything(),
    "rows are grey images of this size, such as 16x16: the report shows them");
  v("feature", o.feature, anything(),
    "INPUT is a folder of pictures: what is computed from them, such as gist or "
    "dense-sift:words=400 (see milieu help features)");
  v("max_side", o.max_side, anything(),
    "pictures are scaled down until no side is longer than this (default 1024; 0: no limit)");
  v("codebook", o.codebook, anything(),
    "words for local features made elsewhere: a .npy, a run folder or a folder of features");
}

// What stands for the value of an input flag in the help.
std::string input_value_name(const Field& field);

// The text of options.json. Input fields that were not given are left out.
std::string run_options_to_json(const std::string& method, const std::vector<Field>& input_fields,
                                const std::vector<Field>& option_fields);

// Sets the fields from an options.json, or from the one in a run folder. Throws IoError when it
// cannot be read, DataError when it is not such a file, InvalidArgument for another method's file
// and for values that break their rules.
void read_run_options(const std::string& path, const std::string& method,
                      const std::vector<Field>& input_fields,
                      const std::vector<Field>& option_fields);

// "milieu kmeans X.npy --labels labels.npy --num-clusters 2": the shortest command that gives the
// same result. Options equal to their value in `defaults` are left out, and so is num_threads.
std::string command_text(const std::string& method, const std::vector<Field>& input_fields,
                         const std::vector<Field>& option_fields,
                         const std::vector<Field>& default_option_fields);

// `text` as a POSIX shell reads it back: in quotes where it needs them.
std::string shell_quoted(const std::string& text);

}  // namespace milieu::cli

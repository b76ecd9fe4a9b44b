// SPDX-License-Identifier: Apache-2.0
// A result as one table for other programs: which sample is in which part, with what a person
// changed by hand. Made from a run folder (`milieu export`) or from a view of the explorer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/report/export/edits.h"

namespace MILIEU_API milieu {

struct ExportSample {
  std::string name;        // as in labels.csv: a path below the root, or a row
  int64_t row = 0;         // of the collection, or the place in labels.csv
  std::string class_name;  // "" where none is known
  int label = -1;          // part, or -1 for none
  float margin = 0;        // how certain the label is
  bool is_by_hand = false;
  std::vector<std::string> tags;
};

struct ExportTable {
  std::string name;  // of the run
  std::string method;
  std::string command;  // that made it; "" where it is not known
  std::string root;     // the image folder; "": the samples are not image files
  bool has_margins = false;
  std::vector<std::string> parts;  // their names
  std::vector<ExportSample> samples;

  // "" for a sample in no part.
  std::string part_of(const ExportSample& sample) const;
  // The sample's file; its name where it is not a file.
  std::string path_of(const ExportSample& sample) const;
};

// A view after its edits (edited_view).
ExportTable make_export_table(const RunView& view, const Edits& edits,
                              const Collection& collection);

// A run folder by itself, with its edits or as the method left it. Margins are those that the
// method kept, classes those of the image folders. Throws IoError, DataError, and InvalidArgument
// for a folder that is not a run folder.
ExportTable read_export_table(const std::string& run_folder, bool is_original);

// sample, label, part, margin, row, class, by_hand, tags, path.
std::string export_csv(const ExportTable& table);
std::string export_json(const ExportTable& table);
// COCO: parts are categories, each image has one annotation whose box is the whole image. Reads the
// size of every image. Throws InvalidArgument where the samples are not image files.
std::string export_coco(const ExportTable& table);

}  // namespace milieu

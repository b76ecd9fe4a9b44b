// SPDX-License-Identifier: Apache-2.0
// All rows of an input, opened once. Sets of rows (what is clustered, its context) are taken from
// it without reading it again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/dataset.h"

namespace MILIEU_API milieu {

class RowSource {
 public:
  // Opens a .npy, .csv, .tsv or idx file as load_dataset does. Of `options` the labels, the label
  // column, allow_non_finite and num_threads count; the selection is made by take.
  static RowSource open(const std::string& path, const LoadOptions& options = {});
  // Rows that are in memory already, such as features of images. `labels` are what the data itself
  // says, `names` one per row; both may be empty.
  static RowSource of(Points points, Labels labels, std::vector<std::string> names,
                      const std::string& source, const LoadOptions& options = {});

  int64_t num_rows() const;
  const Labels& labels() const;              // of all rows; empty: no classes are known
  const std::string& labels_source() const;  // the file they came from, for messages
  const std::string& source() const;

  // The rows of the classes `select` ("6,0"; empty: all) that are among `rows` (ascending; empty:
  // all). Memory and checks are those of load_dataset: only the rows taken are converted and
  // searched for NaN.
  Dataset take(const std::string& select = {}, const std::vector<int64_t>& rows = {}) const;

  struct Content;  // hidden

 private:
  explicit RowSource(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  std::shared_ptr<const Content> content_;
};

}  // namespace milieu

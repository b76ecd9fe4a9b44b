// SPDX-License-Identifier: Apache-2.0
// Files that say something about every row of INPUT: classes, weights. They have one entry per row
// of INPUT as it is; after a selection only the entries of the kept rows remain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/dataset.h"

namespace MILIEU_API milieu {

class RowFiles {
 public:
  // `data` is what INPUT, named `path`, became; it must outlive this object.
  RowFiles(std::string path, const Dataset& data) : path_(std::move(path)), data_(data) {}

  const Dataset& data() const { return data_; }
  int64_t num_rows() const { return data_.total_rows; }  // of INPUT, before the selection
  // Each of these reads `path` for the kept rows. They throw DataError when it has another number
  // of rows than INPUT, or entries of the wrong kind.
  Labels labels(const std::string& path) const;
  std::vector<double> weights(const std::string& path) const;  // one column
  Points matrix(const std::string& path) const;                // all columns
  std::vector<int> parts(const std::string& path) const;       // whole numbers; none: -1
  // Pairs of rows of INPUT, as pairs of kept rows.
  std::vector<std::pair<int64_t, int64_t>> pairs(const std::string& path) const;
  // The kept row that `row` of INPUT has become; -1: it was not kept.
  int64_t kept_row(int64_t row) const;

 private:
  void check_length(const std::string& path, int64_t length) const;

  std::string path_;
  const Dataset& data_;
};

// A list of numbers: one column or one row.
std::vector<double> load_numbers(const std::string& path);

// A list of labels that must be whole numbers, as written; -1 for none.
std::vector<int> load_whole_labels(const std::string& path);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Files that say something about every row of INPUT: classes, weights. They have one entry a row of
// the file as it stands; after --select only the entries of the kept rows remain.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "milieu/data/dataset.h"

namespace milieu::cli {

class RowFiles {
 public:
  // `data` is what INPUT, named `path`, became; it must outlive this object.
  RowFiles(std::string path, const Dataset& data);
  // `options` are how it was read, `reload` reads it again with others: for other classes of INPUT.
  using Reload = std::function<Dataset(const LoadOptions&)>;
  RowFiles(std::string path, const Dataset& data, LoadOptions options, Reload reload);

  const Dataset& data() const { return data_; }
  int64_t num_rows() const { return data_.total_rows; }  // of INPUT, before the selection
  const LoadOptions& load_options() const { return options_; }
  // Classes of all rows of INPUT, also of those that were not kept.
  Labels all_labels() const;
  // Other classes of INPUT, read as INPUT was; never rows that were kept by number.
  Dataset select(const std::string& classes) const;
  // The rows of INPUT that a file names by their numbers.
  Dataset numbered(const std::string& path) const;
  // Classes of the kept rows. Throws DataError when `path` has another number of rows than INPUT.
  Labels labels(const std::string& path);
  // Numbers of the kept rows, from a file of one column. Throws DataError likewise.
  std::vector<double> weights(const std::string& path);
  // All columns of the kept rows. Throws DataError likewise.
  Points matrix(const std::string& path);

 private:
  void check_length(const std::string& path, int64_t length);

  std::string path_;
  const Dataset& data_;
  LoadOptions options_;
  Reload reload_;
};

struct ImageSize {
  int width = 0;  // 0: rows are not images
  int height = 0;
};

// From "16x16" (width x height), or "" for none. Throws InvalidArgument for anything else.
ImageSize parse_image_size(const std::string& text);

// The size of the images in `data`: as given, else as the file says (idx, or .npy of three
// dimensions). Throws InvalidArgument when the given size does not fit the columns.
ImageSize image_size_of(const Dataset& data, const std::string& given);

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// The rows that a run is about, with their classes and images, loaded once. Read-only after
// construction, so that every thread may look at it.
#pragma once

#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/dataset.h"
#include "milieu/data/groups.h"
#include "milieu/render/png.h"

namespace MILIEU_API milieu {

struct CollectionOptions {
  Dataset data;         // all rows
  std::string root;     // the image folder; "": rows of numbers
  std::string feature;  // what describes the images; "" for vectors
  int image_width = 0;  // rows that are grey images themselves; 0: they are not
  int image_height = 0;
  std::string cache_folder;      // thumbnails are kept below it; "": not kept
  Groups groups;                 // rows that occur together, for cac; none: not known
  std::vector<float> positions;  // x, y of each row, for cac and the map; empty: not known
  std::vector<std::string> warnings = {};  // of reading them, such as the images that were skipped
  int keypoint_side = 1024;  // longer images are scaled down to it before cac reads them
};

class Collection {
 public:
  explicit Collection(CollectionOptions options);
  Collection(const Collection&) = delete;  // the map refers to this object
  Collection& operator=(const Collection&) = delete;

  const Dataset& data() const { return options_.data; }
  int64_t size() const { return data().points.rows(); }
  std::string name() const;  // the last part of the path
  bool has_image_files() const { return !options_.root.empty(); }
  bool has_images() const { return has_image_files() || options_.image_width > 0; }
  const std::string& root() const { return options_.root; }
  const std::string& feature() const { return options_.feature; }
  const std::string& cache_folder() const { return options_.cache_folder; }
  int image_width() const { return options_.image_width; }
  int image_height() const { return options_.image_height; }
  const std::vector<std::string>& warnings() const { return options_.warnings; }
  const Groups& groups() const { return options_.groups; }
  const std::vector<float>& positions() const { return options_.positions; }
  int keypoint_side() const { return options_.keypoint_side; }
  const std::vector<int64_t>& class_sizes() const { return class_sizes_; }
  int class_of(int64_t row) const {
    return data().labels.empty() ? -1 : data().labels.indices[static_cast<size_t>(row)];
  }
  // Whether all values are 0 or 1.
  bool is_binary() const { return is_binary_; }
  // The row's file, relative to the root, or its number.
  std::string row_name(int64_t row) const;
  // First two principal axes of every row, scaled to [-1, 1]: 2n numbers. Made in the background
  // from construction on; waits for it.
  const std::vector<float>& map() const;

 private:
  CollectionOptions options_;
  std::vector<int64_t> class_sizes_;
  bool is_binary_ = false;
  mutable std::shared_future<std::vector<float>> map_;
};

// Coordinates of the rows along their two leading principal axes, largest magnitude 1. Exact for
// few columns, by subspace iteration for many: a view, not a result.
std::vector<float> principal_map(FloatView points);

}  // namespace milieu

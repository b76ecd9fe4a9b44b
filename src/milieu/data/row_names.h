// SPDX-License-Identifier: Apache-2.0
// Rows that belong to images, found by the image's name: its path below the folder, or its bare
// file name where that is unique.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

class RowNames {
 public:
  static constexpr int64_t kNone = -1, kAmbiguous = -2;

  RowNames() = default;
  explicit RowNames(const std::vector<std::string>& names);

  int64_t size() const { return static_cast<int64_t>(names_.size()); }
  // The row of the image at `path`, its very name before others; kNone, or kAmbiguous when several
  // rows would do.
  int64_t find(const std::string& path) const;

 private:
  std::vector<std::string> names_;
  // Looked up, never walked.
  std::unordered_map<std::string, int64_t> by_name_;
  std::unordered_map<std::string, std::vector<int64_t>> by_file_;  // without folders
};

// The lines of a text, an empty last one aside; "\r\n" is a line break too.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace milieu

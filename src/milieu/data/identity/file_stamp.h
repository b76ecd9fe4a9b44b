// SPDX-License-Identifier: Apache-2.0
// Shows without reading whether a file is the one that was seen before. Size and time of change are
// not enough: two files may have both in common, and be swapped. Every swap, rename or write
// changes the inode or its time of change (ctime), which programs cannot set.
#pragma once

#include <cstdint>
#include <string>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

struct FileStamp {
  int64_t bytes = -1;  // -1: there is no such file
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;
  int64_t inode = 0;

  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const std::string& path);
std::string to_text(const FileStamp& stamp);

}  // namespace milieu

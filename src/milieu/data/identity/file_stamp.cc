// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/identity/file_stamp.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace milieu {

FileStamp stamp_of(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return {};
  const auto in_ns = [](const timespec& time) {
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  return {info.st_size, in_ns(info.st_mtim), in_ns(info.st_ctim),
          static_cast<int64_t>(info.st_ino)};
}

std::string to_text(const FileStamp& stamp) {
  return fmt::format("{} {} {} {}", stamp.bytes, stamp.mtime_ns, stamp.ctime_ns, stamp.inode);
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// What is known about the image files of a folder: size and time show without reading whether a
// file is the one that was seen before. Kept in a journal of one JSON line per image, appended as
// images are finished; a line that a crash cut off is forgotten.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace milieu::internal {

struct FileState {
  int64_t bytes = -1;
  int64_t mtime_ns = 0;
  uint64_t hash = 0;  // of the content
  int width = 0;      // of the upright image in the file
  int height = 0;
  std::string error;  // why it is not an image; "" when it is one

  bool is_same_file(const FileState& other) const {
    return bytes == other.bytes && mtime_ns == other.mtime_ns;
  }
};

// Size and time of a file; bytes is -1 when it cannot be found.
FileState stat_file(const std::string& path);

class FileIndex {
 public:
  explicit FileIndex(std::string path);  // reads what is there
  ~FileIndex();
  FileIndex(const FileIndex&) = delete;
  FileIndex& operator=(const FileIndex&) = delete;

  // Null when nothing is known, or the file has changed since.
  const FileState* find(const std::string& image, const FileState& now) const;
  // What was known of the image's path, whether the file is still the same or not; null: nothing.
  const FileState* find_earlier(const std::string& image) const;
  // On disk when it returns. Throws IoError.
  void append(const std::string& image, const FileState& state);
  // Forgets all but these images, atomically.
  void keep_only(const std::vector<std::string>& images);

 private:
  void read();

  std::string path_;
  std::map<std::string, FileState> states_;
  int64_t num_lines_ = 0;
  std::FILE* file_ = nullptr;  // open for appending once something is appended
};

}  // namespace milieu::internal

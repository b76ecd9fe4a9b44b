// SPDX-License-Identifier: Apache-2.0
// What is known about the image files of a folder: a stamp shows without reading whether a file is
// the one that was seen before. Kept in a journal of one JSON line per image, appended as images
// are finished; each line ends with its checksum, and one that a crash damaged is forgotten.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "milieu/data/identity/file_stamp.h"

namespace milieu::internal {

struct FileState {
  FileStamp stamp;
  uint64_t hash = 0;  // of the content
  int width = 0;      // of the upright image in the file
  int height = 0;
  std::string error;  // why it is not an image; "" when it is one
};

class FileIndex {
 public:
  explicit FileIndex(std::string path);  // reads what is there
  ~FileIndex();
  FileIndex(const FileIndex&) = delete;
  FileIndex& operator=(const FileIndex&) = delete;

  // Null when nothing is known, or the file has changed since.
  const FileState* find(const std::string& image, const FileStamp& now) const;
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

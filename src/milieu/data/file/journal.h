// SPDX-License-Identifier: Apache-2.0
// Finished pieces of long work, one line each, appended as they are finished: keeping a piece costs
// the same however many there are. Each line ends with its checksum. A crash loses the line that
// was being written, and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

struct JournalHead {
  std::string kind;  // what is kept, as people say it: "ranking"
  std::string key;   // fingerprint of the work (identity/fingerprint.h)
};

class Journal {
 public:
  // Reads what is there: `on_line` gets every piece. A missing or empty file has none. Throws
  // InvalidArgument for work of another key, DataError for a file of another kind or a damaged one.
  Journal(std::string path, JournalHead head,
          const std::function<void(std::string_view piece)>& on_line);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Makes the file and locks it until destruction. append() does so where it was not done. Throws
  // IoError, also when another process has it.
  void open();
  // `piece` has no line breaks. It is on disk when append returns. After an IoError the next call
  // writes the lost pieces first.
  void append(std::string_view piece);

 private:
  void read(const std::function<void(std::string_view)>& on_line);
  std::string first_line() const;
  [[noreturn]] void fail() const;

  std::string path_;
  JournalHead head_;
  int fd_ = -1;
  int64_t num_bytes_ = 0;  // of complete lines
  std::string pending_;    // lines that are not on disk yet
};

}  // namespace milieu

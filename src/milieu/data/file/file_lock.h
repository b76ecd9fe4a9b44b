// SPDX-License-Identifier: Apache-2.0
// Work that one process does while others wait, or leave it.
#pragma once

#include <string>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"

namespace MILIEU_API milieu {

// A lock on a file, held until destruction or the end of the process, on whatever machine.
enum class LockKind { Shared, Exclusive };

class FileLock {
 public:
  // Makes the file where it is missing. Throws IoError.
  FileLock(const std::string& path, LockKind kind);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool take();                        // false when another process has it
  bool wait(const Monitor& monitor);  // false when the monitor stopped it

 private:
  int fd_ = -1;
  int operation_ = 0;
};

}  // namespace milieu

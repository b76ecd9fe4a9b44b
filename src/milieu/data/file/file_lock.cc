// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/file/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "milieu/base/error.h"

namespace milieu {

FileLock::FileLock(const std::string& path, LockKind kind) {
  fd_ = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (fd_ < 0) throw IoError(fmt::format("{} cannot be created: {}", path, std::strerror(errno)));
  operation_ = (kind == LockKind::Shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
}

FileLock::~FileLock() { ::close(fd_); }

bool FileLock::take() { return ::flock(fd_, operation_) == 0; }

bool FileLock::wait(const Monitor& monitor) {
  while (!take()) {
    if (monitor.should_stop()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// openat2 resolves the whole path in the kernel without ever
// leaving the folder, so nothing can be swapped between a check and the opening.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/file/read_below.h"

namespace milieu {

namespace {

// Closes a descriptor at the end of its scope.
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

// For kernels without openat2 (before 5.6): the real path is compared, then opened.
int open_by_real_path(const std::string& root, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path base = fs::canonical(root, error);
  const fs::path real = error ? fs::path() : fs::canonical(base / name, error);
  const fs::path relative = error ? fs::path("..") : real.lexically_relative(base);
  if (relative.empty() || *relative.begin() == "..") {
    errno = EXDEV;
    return -1;
  }
  return open(real.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int open_below(const std::string& root, const std::string& name) {
  const Descriptor folder{open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (folder.fd < 0) return -1;
  open_how how = {};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const long fd = syscall(SYS_openat2, folder.fd, name.c_str(), &how, sizeof how);
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) return open_by_real_path(root, name);
  return static_cast<int>(fd);
}

[[noreturn]] void fail(const std::string& name, const std::string& reason) {
  throw IoError(fmt::format("{} cannot be read: {}", name, reason));
}

}  // namespace

bool leads_outside(const std::string& root, const std::string& name) {
  const Descriptor file{open_below(root, name)};
  return file.fd < 0 && errno == EXDEV;
}

std::vector<uint8_t> read_below(const std::string& root, const std::string& name,
                                int64_t max_bytes) {
  const Descriptor file{open_below(root, name)};
  if (file.fd < 0) fail(name, errno == EXDEV ? "it lies outside the folder" : std::strerror(errno));
  struct stat info = {};
  if (fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode)) fail(name, "it is not a regular file");
  if (info.st_size > max_bytes)
    fail(name, fmt::format("it is larger than {}", counted(max_bytes, "byte")));
  std::vector<uint8_t> bytes(static_cast<size_t>(info.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.fd, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(name, std::strerror(errno));
    if (got == 0) break;  // it has shrunk
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace milieu

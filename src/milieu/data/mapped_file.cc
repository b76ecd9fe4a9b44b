// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "milieu/base/error.h"

namespace milieu {
namespace {

// Closes a file descriptor at the end of a scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail(const std::string& path, int code) {
  if (code == ENOENT) throw IoError(fmt::format("{} does not exist: check the path", path));
  throw IoError(fmt::format("{} cannot be read: {}", path, std::strerror(code)));
}

std::vector<std::byte> read_to_end(int fd, const std::string& path) {
  constexpr size_t kChunk = 1 << 20;
  std::vector<std::byte> content;
  size_t used = 0;
  for (;;) {
    if (content.size() - used < kChunk) content.resize(used + used / 2 + kChunk);
    const ssize_t got = ::read(fd, content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, errno);
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  content.resize(used);
  return content;
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) fail(path, errno);
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0) fail(path, errno);
  if (S_ISDIR(info.st_mode)) throw IoError(fmt::format("{} is a folder, must be a file", path));

  std::shared_ptr<MappedFile> file(new MappedFile);
  if (!S_ISREG(info.st_mode)) {
    file->copy_ = read_to_end(fd.get(), path);
    file->bytes_ = file->copy_;
    return file;
  }
  const size_t size = static_cast<size_t>(info.st_size);
  if (size == 0) return file;
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (address == MAP_FAILED) fail(path, errno);
  file->bytes_ = {static_cast<const std::byte*>(address), size};
  file->is_mapped_ = true;
  return file;
}

MappedFile::~MappedFile() {
  if (is_mapped_) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace milieu

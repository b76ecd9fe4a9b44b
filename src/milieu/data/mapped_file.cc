// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "milieu/base/error.h"
#include "milieu/base/memory.h"

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

// Devices such as /dev/zero never end.
bool is_endless(const struct stat& info) {
  constexpr unsigned kMemoryDevices = 1, kZero = 5, kFull = 7, kRandom = 8, kUrandom = 9;
  if (!S_ISCHR(info.st_mode) || major(info.st_rdev) != kMemoryDevices) return false;
  const unsigned number = minor(info.st_rdev);
  return number == kZero || number == kFull || number == kRandom || number == kUrandom;
}

// A pipe may never end either: it is read until it would take half of the memory that is left.
std::vector<std::byte> read_to_end(int fd, const std::string& path) {
  constexpr size_t kChunk = 1 << 20;
  const double most = memory_room().bytes / 2;
  std::vector<std::byte> content;
  size_t used = 0;
  for (;;) {
    if (content.size() - used < kChunk) content.resize(used + used / 2 + kChunk);
    const ssize_t got = ::read(fd, content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, errno);
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (static_cast<double>(used) > most)
      throw IoError(fmt::format(
          "{} gives more than {:.3g} GB, half of the memory that is left: put it into a "
          "file, which is not copied",
          path, most / 1e9));
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

  if (is_endless(info))
    throw IoError(fmt::format("{} is a device that never ends, must be a file", path));
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

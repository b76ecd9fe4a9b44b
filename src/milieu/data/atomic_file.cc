// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "milieu/base/assert.h"
#include "milieu/base/error.h"

namespace milieu {
namespace {

// The file behind a symbolic link, also where it does not exist yet. Circular links are
// left as they are: the system then refuses them.
std::string follow_links(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int kMaxLinks = 40;  // as the system itself
  std::error_code error;
  fs::path at = path;
  for (int i = 0; i < kMaxLinks && fs::is_symlink(at, error); ++i)
    at = at.parent_path() / fs::read_symlink(at, error);
  return at.string();
}

std::string folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string temporary_name(const std::string& target) {
  static std::atomic<unsigned> counter = 0;
  return fmt::format("{}.tmp-{}-{}", target, ::getpid(), counter++);
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(follow_links(path_)) {
  struct stat info = {};
  const bool exists = ::stat(target_.c_str(), &info) == 0;
  if (!exists && errno == ELOOP) fail("be created");
  if (exists && S_ISDIR(info.st_mode))
    throw IoError(fmt::format("{} is a folder, must be a file", path_));
  const bool is_direct = exists && !S_ISREG(info.st_mode);
  if (!is_direct) temporary_ = temporary_name(target_);
  const int flags = O_WRONLY | O_CLOEXEC | (is_direct ? 0 : O_CREAT | O_EXCL);
  const int fd = ::open((is_direct ? target_ : temporary_).c_str(), flags, 0666);
  if (fd < 0) {
    temporary_.clear();
    fail("be created");
  }
  file_ = ::fdopen(fd, "wb");
  if (file_ == nullptr) {
    const int code = errno;
    ::close(fd);
    errno = code;
    fail("be created");
  }
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::write(const void* data, size_t bytes) {
  check_open();
  if (bytes > 0 && std::fwrite(data, 1, bytes, file_) != bytes) fail("be written");
}

void AtomicFile::commit() {
  check_open();
  if (std::fflush(file_) != 0) fail("be written");
  if (!temporary_.empty()) {
    keep_older_permissions();
    // Some disks report that they are full only now.
    if (::fsync(::fileno(file_)) != 0) fail("be flushed to disk");
  }
  if (std::fclose(std::exchange(file_, nullptr)) != 0) fail("be written");
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("be moved into place");
  temporary_.clear();
  sync_folder();
}

void AtomicFile::check_open() const {
  if (file_ == nullptr)
    throw IoError(
        fmt::format("{} cannot be written: it was committed or an earlier write failed", path_));
}

void AtomicFile::fail(const char* action) {
  const int code = errno;
  discard();
  throw IoError(fmt::format("{} cannot {}: {}", path_, action, std::strerror(code)));
}

void AtomicFile::discard() {
  if (file_ != nullptr) std::fclose(std::exchange(file_, nullptr));
  if (!temporary_.empty()) ::unlink(std::exchange(temporary_, {}).c_str());
}

void AtomicFile::keep_older_permissions() {
  struct stat older = {};
  if (::stat(target_.c_str(), &older) == 0)
    (void)::fchmod(::fileno(file_),
                   older.st_mode & 07777);  // best effort: the content matters more
}

// After a power failure the new name is there too. Not every file system can do this, and the file
// itself is complete by now: a failure here is not reported.
void AtomicFile::sync_folder() {
  const int fd = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)::fsync(fd);
  ::close(fd);
}

void write_file_atomically(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace milieu

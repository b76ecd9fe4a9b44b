// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <utility>

#include "milieu/base/assert.h"
#include "milieu/base/error.h"
#include "milieu/data/file/temporary.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;

// The file behind a symbolic link, also where it does not exist yet. Circular links are
// left as they are: the system then refuses them.
std::string follow_links(const std::string& path) {
  constexpr int kMaxLinks = 40;  // as the system itself
  std::error_code error;
  fs::path at = path;
  for (int i = 0; i < kMaxLinks && fs::is_symlink(at, error); ++i)
    at = at.parent_path() / fs::read_symlink(at, error);
  return at.string();
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(follow_links(path_)) {
  struct stat info = {};
  const bool exists = ::stat(target_.c_str(), &info) == 0;
  if (!exists && errno == ELOOP) fail("be created");
  if (exists && S_ISDIR(info.st_mode))
    throw IoError(fmt::format("{} is a folder, must be a file", path_));
  const bool is_direct = exists && !S_ISREG(info.st_mode);
  if (!is_direct && fs::path(target_).filename().string().size() > NAME_MAX) {
    errno = ENAMETOOLONG;
    fail("be created");
  }
  const TemporaryFile temporary =
      is_direct ? TemporaryFile{::open(target_.c_str(), O_WRONLY | O_CLOEXEC), {}}
                : make_temporary_file(folder_of(target_));
  const int fd = temporary.fd;
  if (fd < 0) fail("be created");
  temporary_ = temporary.path;
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
  sync_folder(folder_of(target_));  // after a power failure the new name is there too
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

void write_file_atomically(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace milieu

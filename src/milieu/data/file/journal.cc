// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/file/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"

namespace milieu {
namespace {

constexpr size_t kCheckLength = 17;  // a blank and 16 digits

std::string checked_line(std::string_view text) {
  return fmt::format("{} {}\n", text, hex(hash_text(text)));
}

// The text of a line without its checksum; false when they do not match.
bool take_check(std::string_view& line) {
  if (line.size() < kCheckLength) return false;
  const std::string_view text = line.substr(0, line.size() - kCheckLength);
  if (line.substr(text.size()) != " " + hex(hash_text(text))) return false;
  line = text;
  return true;
}

}  // namespace

Journal::Journal(std::string path, JournalHead head,
                 const std::function<void(std::string_view)>& on_line)
    : path_(std::move(path)), head_(std::move(head)) {
  read(on_line);
}

Journal::~Journal() {
  if (fd_ >= 0) ::close(fd_);
}

std::string Journal::first_line() const {
  return fmt::format("milieu {} {}", head_.kind, head_.key);
}

void Journal::read(const std::function<void(std::string_view)>& on_line) {
  std::ifstream file(path_, std::ios::binary);
  int64_t number = 0;
  for (std::string text; std::getline(file, text); ++number) {
    if (file.eof() && (number > 0 || checked_line(first_line()).starts_with(text)))
      return;  // a crash cut it off
    std::string_view line = text;
    const bool is_whole = !file.eof() && take_check(line);
    if (number == 0 && !text.starts_with(fmt::format("milieu {} ", head_.kind)))
      throw DataError(fmt::format("{} does not hold a {}: choose another file", path_, head_.kind));
    if (!is_whole)
      throw DataError(
          fmt::format("{} is damaged at line {}: remove it to start over", path_, number + 1));
    if (number == 0 && line != first_line())
      throw InvalidArgument(
          fmt::format("{} belongs to a {} of other data or options, or of another version or "
                      "instruction set of Milieu: choose another file, or remove it",
                      path_, head_.kind));
    if (number > 0) on_line(line);
    num_bytes_ += std::ssize(text) + 1;
  }
}

void Journal::fail() const {
  throw IoError(fmt::format("{} cannot be written: {}", path_, std::strerror(errno)));
}

void Journal::open() {
  if (fd_ >= 0) return;
  fd_ = ::open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (fd_ < 0) fail();
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(std::exchange(fd_, -1));
  throw IoError(fmt::format("{} is being written by another process: wait for it", path_));
}

void Journal::append(std::string_view piece) {
  if (num_bytes_ == 0 && pending_.empty()) pending_ = checked_line(first_line());
  pending_ += checked_line(piece);
  open();
  // What follows the complete lines was cut off by a crash or a full disk.
  if (::ftruncate(fd_, num_bytes_) != 0) fail();
  for (size_t at = 0; at < pending_.size();) {
    const ssize_t written = ::pwrite(fd_, pending_.data() + at, pending_.size() - at,
                                     num_bytes_ + static_cast<int64_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail();
    at += static_cast<size_t>(written);
  }
  if (::fdatasync(fd_) != 0) fail();
  num_bytes_ += std::ssize(pending_);
  pending_.clear();
}

}  // namespace milieu

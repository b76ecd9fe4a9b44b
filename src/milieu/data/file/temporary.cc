// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/file/temporary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "milieu/base/assert.h"
#include "milieu/base/error.h"
#include "milieu/data/identity/fingerprint.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".milieu-tmp-";
constexpr std::string_view kOldPrefix = ".milieu-old-";
constexpr size_t kRandomLetters = 12;
constexpr int kMaxTries = 100;
constexpr auto kLeastAge = std::chrono::seconds(60);

std::string random_letters() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
  unsigned char bytes[kRandomLetters] = {};
  if (::getrandom(bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes)))
    throw IoError(fmt::format("there are no random numbers: {}", std::strerror(errno)));
  std::string text;
  for (const unsigned char byte : bytes) text += kLetters[byte % kLetters.size()];
  return text;
}

// The lock says that a writer lives. Where there are no locks nothing is ever swept.
void lock(int fd) { (void)::flock(fd, LOCK_EX | LOCK_NB); }

bool is_abandoned(const fs::path& path) {
  std::error_code error;
  const auto time = fs::last_write_time(path, error);
  if (error || fs::file_time_type::clock::now() - time < kLeastAge) return false;
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  const bool is_free = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
  ::close(fd);
  return is_free;
}

// Folders aside are named after a hash of the name they had: any name fits.
std::string aside_prefix(const std::string& target) {
  return fmt::format("{}{}-", kOldPrefix,
                     Fingerprint("name").text(fs::path(target).filename().string()).hex());
}

// NAME.old-PID-N, as 0.1.0 named them.
bool is_former_aside(const std::string& name, const std::string& target) {
  const std::string prefix = fs::path(target).filename().string() + ".old-";
  return name.starts_with(prefix) &&
         name.find_first_not_of("0123456789-", prefix.size()) == std::string::npos;
}

// The folders set aside while `target` was being replaced.
std::vector<fs::path> asides_of(const std::string& target) {
  const std::string prefix = aside_prefix(target);
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of(target), error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) || is_former_aside(name, target)) found.push_back(entry.path());
  }
  return found;
}

}  // namespace

bool is_temporary_name(std::string_view name) {
  return name.starts_with(kPrefix) && name.size() == kPrefix.size() + kRandomLetters;
}

TemporaryFile make_temporary_file(const std::string& folder) {
  sweep_temporaries(folder);
  TemporaryFile file;
  for (int i = 0; i < kMaxTries && file.fd < 0; ++i) {
    file.path = fmt::format("{}/{}{}", folder, kPrefix, random_letters());
    file.fd = ::open(file.path.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL, 0666);
    if (file.fd < 0 && errno != EEXIST) return file;
  }
  if (file.fd >= 0) lock(file.fd);
  return file;
}

TemporaryFolder::TemporaryFolder(std::string target, std::string shown)
    : target_(std::move(target)), shown_(std::move(shown)) {
  const std::string folder = folder_of(target_);
  std::error_code error;
  fs::create_directories(folder, error);
  const auto fail = [&](const std::string& reason) {
    throw IoError(fmt::format("{} cannot be created: {}", shown_, reason));
  };
  if (error) fail(error.message());
  sweep_temporaries(folder);
  for (int i = 0; i < kMaxTries && path_.empty(); ++i) {
    const std::string path = fmt::format("{}/{}{}", folder, kPrefix, random_letters());
    if (::mkdir(path.c_str(), 0777) == 0) path_ = path;
    if (path_.empty() && errno != EEXIST) fail(std::strerror(errno));
  }
  if (path_.empty()) fail("no name is free");
  lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0) lock(lock_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

void TemporaryFolder::put_in_place() {
  MILIEU_ASSERT(!path_.empty());
  sync_folder(path_);
  std::error_code error;
  if (!fs::exists(target_, error)) {
    if (std::rename(path_.c_str(), target_.c_str()) != 0)
      throw IoError(fmt::format("{} cannot be moved into place: {}", shown_, std::strerror(errno)));
    path_.clear();
  } else if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) !=
             0) {
    exchange_in_steps();
  }
  sync_folder(folder_of(target_));
  // What was replaced. What cannot be removed stays under its name.
  if (!path_.empty()) fs::remove_all(std::exchange(path_, {}), error);
}

void TemporaryFolder::exchange_in_steps() {
  const auto move = [&](const std::string& from, const std::string& to) {
    return std::rename(from.c_str(), to.c_str()) == 0;
  };
  const std::string aside =
      fmt::format("{}/{}{}", folder_of(target_), aside_prefix(target_), random_letters());
  if (!move(target_, aside))
    throw IoError(fmt::format("{} cannot be replaced: {}", shown_, std::strerror(errno)));
  if (!move(path_, target_)) {
    const int code = errno;
    (void)move(aside, target_);
    throw IoError(fmt::format("{} cannot be moved into place: {}", shown_, std::strerror(code)));
  }
  path_ = aside;
}

void restore_replaced(const std::string& target) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(target, error))) return;
  for (const fs::path& aside : asides_of(target)) {
    fs::rename(aside, target, error);
    if (!error) break;
  }
}

void sweep_temporaries(const std::string& folder) {
  static std::mutex mutex;
  static std::set<std::string> swept;
  {
    const std::scoped_lock guard(mutex);
    if (!swept.insert(folder).second) return;
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (is_temporary_name(entry.path().filename().string()) && is_abandoned(entry.path()))
      fs::remove_all(entry.path(), error);
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

void sync_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)::fsync(fd);
  ::close(fd);
}

}  // namespace milieu

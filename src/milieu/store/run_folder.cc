// SPDX-License-Identifier: Apache-2.0
#include "milieu/store/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "milieu/base/assert.h"
#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"

namespace milieu {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSummaryName = "summary.json";
constexpr const char* kModelName = "model.safetensors";

[[noreturn]] void fail(const std::string& path, const char* action, int code) {
  throw IoError(fmt::format("{} cannot be {}: {}", path, action, std::strerror(code)));
}

// The folder that `path` leads to; it need not exist.
std::string resolve_target(const std::string& path) {
  require(!path.empty(), "the run folder's path is empty, must name a folder");
  std::error_code error;
  const fs::path existing = fs::canonical(path, error);
  if (!error) return existing.string();
  require(!fs::is_symlink(fs::symlink_status(path, error)), [&] {
    return fmt::format("run folder {} is a symbolic link to nothing: remove it, or choose another",
                       path);
  });
  std::string target = path;
  while (target.size() > 1 && target.back() == '/') target.pop_back();
  return target;
}

// Throws unless the rules allow a run folder to be put at `target`; `path` is its name in messages.
void check_place(const std::string& target, const std::string& path, bool force) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (!fs::exists(status)) return;
  require(fs::is_directory(status),
          [&] { return fmt::format("run folder {} is a file, must be a folder", path); });
  const fs::directory_iterator content(target, error);
  if (error) fail(path, "read", error.value());
  if (content == fs::directory_iterator()) return;
  const bool is_run = fs::exists(fs::path(target) / kSummaryName, error);
  require(is_run, [&] {
    return fmt::format("folder {} is not empty and not a run folder (it has no {}): choose another",
                       path, kSummaryName);
  });
  require(force, [&] {
    return fmt::format("run folder {} exists: choose another, or give --force to replace it", path);
  });
}

// An unused name beside `target`; left-overs of killed runs are skipped.
std::string free_sibling(const std::string& target, const char* purpose) {
  static std::atomic<unsigned> counter = 0;
  std::error_code error;
  std::string name;
  do {
    name = fmt::format("{}.{}-{}-{}", target, purpose, ::getpid(), counter++);
  } while (fs::exists(fs::symlink_status(name, error)));
  return name;
}

// Asks for the folder's names to be on disk. Not every file system can; the files themselves are
// there by then, so a failure is not reported.
void sync_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)::fsync(fd);
  ::close(fd);
}

std::string parent_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

RunFolder::RunFolder(std::string path, bool force)
    : path_(std::move(path)), target_(resolve_target(path_)), force_(force) {
  check_place(target_, path_, force_);
  std::error_code error;
  fs::create_directories(parent_of(target_), error);
  if (error) fail(path_, "created", error.value());
  const std::string temporary = free_sibling(target_, "tmp");
  if (::mkdir(temporary.c_str(), 0777) != 0) fail(path_, "created", errno);
  temporary_ = temporary;
}

RunFolder::~RunFolder() {
  if (temporary_.empty()) return;
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
}

std::string RunFolder::temporary_file(std::string_view name) const {
  MILIEU_ASSERT(!temporary_.empty());  // not committed yet
  MILIEU_ASSERT(!name.empty() && name.find('/') == std::string_view::npos);
  return fmt::format("{}/{}", temporary_, name);
}

void RunFolder::write_text(std::string_view name, std::string_view content) {
  AtomicFile file(temporary_file(name));
  file.write(content);
  if (!content.ends_with('\n')) file.write("\n");
  file.commit();
}

void RunFolder::write_file(std::string_view name, std::string_view content) {
  AtomicFile file(temporary_file(name));
  file.write(content);
  file.commit();
}

void RunFolder::write_model(const ModelFile& file) {
  write_model_file(temporary_file(kModelName), file);
}

void RunFolder::write_columns(const std::vector<Column>& columns) {
  milieu::write_columns(temporary_file(kColumnsName), columns);
}

void RunFolder::write_labels(std::span<const int> labels, const std::vector<std::string>& names,
                             std::span<const int64_t> rows) {
  write_labels_csv(temporary_file("labels.csv"), labels, names, rows);
}

void RunFolder::commit() {
  MILIEU_ASSERT(!temporary_.empty());
  sync_folder(temporary_);
  check_place(target_, path_, force_);
  // An empty folder gives way to the rename itself; an older run is first moved aside.
  std::string aside;
  std::error_code error;
  if (fs::exists(target_, error) && !fs::is_empty(target_, error)) {
    aside = free_sibling(target_, "old");
    if (std::rename(target_.c_str(), aside.c_str()) != 0) fail(path_, "replaced", errno);
  }
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int code = errno;
    if (!aside.empty()) std::rename(aside.c_str(), target_.c_str());
    fail(path_, "moved into place", code);
  }
  temporary_.clear();
  sync_folder(parent_of(target_));
  if (!aside.empty()) fs::remove_all(aside, error);  // what cannot be removed stays under its name
}

std::string resolve_model_path(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    throw IoError(fmt::format("{} does not exist: give a model file or a run folder", path));
  if (!fs::is_directory(status)) return path;
  const fs::path inside = fs::path(path) / kModelName;
  require(fs::exists(inside, error), [&] {
    return fmt::format("folder {} has no {}: give a model file or a run folder", path, kModelName);
  });
  return inside.string();
}

}  // namespace milieu

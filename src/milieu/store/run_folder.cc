// SPDX-License-Identifier: Apache-2.0
#include "milieu/store/run_folder.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "milieu/base/assert.h"
#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/file/temporary.h"

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

}  // namespace

RunFolder::RunFolder(std::string path, bool force)
    : path_(std::move(path)), target_(resolve_target(path_)), force_(force) {
  restore_replaced(target_);
  check_place(target_, path_, force_);
  temporary_ = std::make_unique<TemporaryFolder>(target_, path_);
}

RunFolder::~RunFolder() = default;

// Messages name the run folder, not the temporary one.
void RunFolder::write(std::string_view name,
                      const std::function<void(const std::string& path)>& write_to) {
  MILIEU_ASSERT(temporary_ != nullptr);  // not committed yet
  MILIEU_ASSERT(!name.empty() && name.find('/') == std::string_view::npos);
  try {
    write_to(fmt::format("{}/{}", temporary_->path(), name));
  } catch (const IoError& error) {
    std::string text = error.what();
    if (const size_t at = text.find(temporary_->path()); at != std::string::npos)
      text.replace(at, temporary_->path().size(), path_);
    throw IoError(text);
  }
}

void RunFolder::write_text(std::string_view name, std::string_view content) {
  const bool has_end = content.ends_with('\n');
  write_file(name, has_end ? std::string(content) : std::string(content) + "\n");
}

void RunFolder::write_file(std::string_view name, std::string_view content) {
  write(name, [&](const std::string& path) { write_file_atomically(path, content); });
}

void RunFolder::write_model(const ModelFile& file) {
  write(kModelName, [&](const std::string& path) { write_model_file(path, file); });
}

void RunFolder::write_columns(const std::vector<Column>& columns) {
  write(kColumnsName, [&](const std::string& path) { milieu::write_columns(path, columns); });
}

void RunFolder::write_labels(std::span<const int> labels, const std::vector<std::string>& names,
                             std::span<const int64_t> rows) {
  write("labels.csv",
        [&](const std::string& path) { write_labels_csv(path, labels, names, rows); });
}

void RunFolder::commit() {
  MILIEU_ASSERT(temporary_ != nullptr);
  check_place(target_, path_, force_);
  temporary_->put_in_place();
  temporary_.reset();
}

std::string resolve_model_path(const std::string& path) {
  restore_replaced(path);
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

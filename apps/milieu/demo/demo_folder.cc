// SPDX-License-Identifier: Apache-2.0
#include "demo/demo_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"

namespace milieu::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kReadmeName = "README.txt";
constexpr std::string_view kMark = "Made by `milieu demo`.";  // first line of the README

bool is_demo(const fs::path& folder) {
  std::ifstream file(folder / kReadmeName);
  std::string line;
  return std::getline(file, line) && line == kMark;
}

[[noreturn]] void fail(const std::string& path, const char* action, const std::error_code& error) {
  throw IoError(fmt::format("{} cannot be {}: {}", path, action, error.message()));
}

}  // namespace

DemoFolder::DemoFolder(std::string path) : path_(std::move(path)) {
  require(!path_.empty(), "--out is empty, must name a folder");
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  restore_replaced(path_);
  check_place();
  workplace_ = std::make_unique<TemporaryFolder>(path_, path_);
}

DemoFolder::~DemoFolder() = default;

const std::string& DemoFolder::workplace() const { return workplace_->path(); }

void DemoFolder::check_place() const {
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (!fs::exists(status)) return;
  require(fs::is_directory(status), [&] {
    return fmt::format("{} is a file, must be a folder: choose another with --out", path_);
  });
  const bool is_empty = fs::is_empty(path_, error);
  if (error) fail(path_, "read", error);
  require(is_empty || is_demo(path_), [&] {
    return fmt::format("folder {} is not empty and not an earlier demo: choose another with --out",
                       path_);
  });
}

void DemoFolder::commit(const std::string& readme) {
  write_file_atomically(workplace() + "/" + kReadmeName, std::string(kMark) + "\n" + readme);
  check_place();
  workplace_->put_in_place();
}

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
#include "demo/demo_folder.h"

#include <fmt/format.h>
#include <unistd.h>

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
  check_place();
  std::error_code error;
  const std::string workplace = fmt::format("{}.tmp-{}", path_, ::getpid());
  fs::remove_all(workplace, error);  // of a killed process that had our number
  fs::create_directories(workplace, error);
  if (error) fail(path_, "made", error);
  workplace_ = workplace;
}

DemoFolder::~DemoFolder() {
  if (workplace_.empty()) return;
  std::error_code ignored;
  fs::remove_all(workplace_, ignored);
}

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
  write_file_atomically(workplace_ + "/" + kReadmeName, std::string(kMark) + "\n" + readme);
  check_place();
  std::error_code error;
  std::string aside;
  if (fs::exists(path_, error)) {
    aside = fmt::format("{}.old-{}", path_, ::getpid());
    fs::rename(path_, aside, error);
    if (error) fail(path_, "replaced", error);
  }
  fs::rename(workplace_, path_, error);
  if (error) {
    std::error_code ignored;
    if (!aside.empty()) fs::rename(aside, path_, ignored);
    fail(path_, "put in its place", error);
  }
  workplace_.clear();
  if (!aside.empty()) fs::remove_all(aside, error);  // what cannot be removed stays under its name
}

}  // namespace milieu::cli

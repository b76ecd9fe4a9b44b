// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/image_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/data/format/numbers.h"
#include "milieu/data/mapped_file.h"

namespace milieu {
namespace {

using namespace internal;

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 14> kExtensions = {"jpg", "jpeg", "jpe",  "png",  "bmp",
                                                          "dib", "tif",  "tiff", "webp", "pgm",
                                                          "ppm", "pbm",  "pnm",  "jp2"};

class Lister {
 public:
  explicit Lister(std::string root) { folder_.root = std::move(root); }

  ImageFolder list() {
    list_folder("", "");
    if (folder_.paths.empty())
      throw DataError(fmt::format(
          "{} has no images, must have at least one (.jpg, .png, .tif, ...)", folder_.root));
    folder_.labels = labels_from_classes(classes_);
    return std::move(folder_);
  }

 private:
  std::string full_path(const std::string& path) const {
    return path.empty() ? folder_.root : folder_.root + "/" + path;
  }
  void skip(const std::string& path, std::string reason) {
    folder_.skipped.push_back({path, std::move(reason)});
  }

  std::vector<std::string> sorted_names(const std::string& path) const {
    std::error_code error;
    std::vector<std::string> names;
    fs::directory_iterator entry(full_path(path), error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
      names.push_back(entry->path().filename().string());
    if (error)
      throw IoError(fmt::format("{} cannot be listed: {}", full_path(path), error.message()));
    std::sort(names.begin(), names.end());
    return names;
  }

  // `path` is relative to the root, `class_name` the first folder on it.
  void list_folder(const std::string& path, const std::string& class_name) {
    struct stat info = {};
    if (::stat(full_path(path).c_str(), &info) != 0)
      throw IoError(fmt::format("{} cannot be listed: {}", full_path(path), std::strerror(errno)));
    if (!seen_.insert({info.st_dev, info.st_ino}).second) {
      skip(path, "this folder was listed already");
      return;
    }
    for (const std::string& name : sorted_names(path)) {
      if (name.starts_with('.')) continue;
      list_entry(path.empty() ? name : path + "/" + name, class_name.empty() ? name : class_name,
                 class_name);
    }
  }

  void list_entry(const std::string& path, const std::string& class_below,
                  const std::string& class_name) {
    struct stat info = {};
    if (::stat(full_path(path).c_str(), &info) != 0) {
      skip(path, std::strerror(errno));  // a link to nowhere, or to itself
    } else if (S_ISDIR(info.st_mode)) {
      list_folder(path, class_below);
    } else if (!S_ISREG(info.st_mode)) {
      skip(path, "not a regular file");
    } else if (!has_image_extension(path)) {
      skip(path, "not an image by its name");
    } else {
      folder_.paths.push_back(path);
      classes_.push_back(class_name);
    }
  }

  ImageFolder folder_;
  std::vector<std::string> classes_;        // of the paths; empty: in the root
  std::set<std::pair<dev_t, ino_t>> seen_;  // folders listed so far
};

}  // namespace

Labels labels_from_classes(const std::vector<std::string>& classes) {
  Labels labels;
  std::vector<std::string>& names = labels.names;
  for (const std::string& name : std::set<std::string>(classes.begin(), classes.end()))
    if (!name.empty()) names.push_back(name);
  if (names.empty()) return labels;
  const auto is_whole = [](const std::string& name) { return parse_integer(name).has_value(); };
  if (std::all_of(names.begin(), names.end(), is_whole))
    std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) {
      return *parse_integer(a) < *parse_integer(b);
    });
  std::map<std::string, int> index_from_name = {{"", -1}};
  for (size_t i = 0; i < names.size(); ++i) index_from_name[names[i]] = static_cast<int>(i);
  for (const std::string& name : classes) labels.indices.push_back(index_from_name.at(name));
  return labels;
}

ImageFolder list_image_folder(const std::string& root) { return Lister(root).list(); }

ImageFolder list_images_in(const std::string& list_path) {
  const auto file = MappedFile::open(list_path);
  ImageFolder folder;
  folder.root = fs::path(list_path).parent_path().string();
  if (folder.root.empty()) folder.root = ".";
  std::vector<std::string> classes;
  std::string_view text = file->text();
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string path(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (path.ends_with('\r')) path.pop_back();
    if (path.starts_with("./")) path.erase(0, 2);
    if (path.empty()) continue;
    if (!has_image_extension(path)) {
      folder.skipped.push_back({path, "not an image by its name"});
      continue;
    }
    const size_t slash = path.find('/');
    const bool has_class = slash != std::string::npos && slash > 0 && !path.starts_with("..");
    classes.push_back(has_class ? path.substr(0, slash) : "");
    if (path.starts_with('/')) path = fs::relative(path, folder.root).string();
    folder.paths.push_back(std::move(path));
  }
  if (folder.paths.empty())
    throw DataError(
        fmt::format("{} lists no images, must list at least one, one per line", list_path));
  folder.labels = labels_from_classes(classes);
  return folder;
}

bool has_image_extension(std::string_view path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || path.find('/', dot) != std::string_view::npos) return false;
  std::string extension(path.substr(dot + 1));
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

}  // namespace milieu

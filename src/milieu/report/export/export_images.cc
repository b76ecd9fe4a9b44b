// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/export/export_images.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <string_view>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/file/read_below.h"
#include "milieu/report/export/zip_file.h"

namespace milieu {

namespace fs = std::filesystem;

namespace {

// A name that is one plain folder on any system.
std::string folder_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool is_odd = static_cast<unsigned char>(c) < 32 || c == 127 ||
                        std::string_view("/\\:*?\"<>|").find(c) != std::string_view::npos;
    name += is_odd ? '_' : c;
  }
  if (name.empty() || name[0] == '.') name.insert(0, "_");
  return name.substr(0, 100);
}

// Names of the folders of all parts, each once.
std::vector<std::string> part_folders(const std::vector<std::string>& parts) {
  std::vector<std::string> folders;
  std::set<std::string> taken;
  for (size_t k = 0; k < parts.size(); ++k) {
    std::string name = folder_name(parts[k]);
    if (!taken.insert(name).second) {
      name += fmt::format(" ({})", k + 1);
      taken.insert(name);
    }
    folders.push_back(name);
  }
  return folders;
}

// The file's place in a folder: its own name, or with its class in front where that is taken.
template <class IsTaken>
fs::path free_place(const fs::path& folder, const std::string& name, const IsTaken& is_taken) {
  const fs::path plain = folder / fs::path(name).filename();
  if (!is_taken(plain)) return plain;
  std::string whole = name;
  for (char& c : whole)
    if (c == '/') c = '_';
  return folder / whole;
}

bool is_on_disk(const fs::path& path) { return fs::exists(fs::symlink_status(path)); }

void place_image(const std::string& root, const std::string& name, const fs::path& place,
                 ImageExport how) {
  if (how == ImageExport::Link) {
    fs::create_symlink(fs::absolute(fs::path(root) / name), place);
    return;
  }
  const std::vector<uint8_t> bytes = read_below(root, name);
  write_file_atomically(place.string(),
                        {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

int64_t zip_images(const ExportTable& table, const std::vector<std::string>& folders,
                   const std::string& target) {
  ZipFile zip(target);
  std::set<fs::path> taken;
  for (const ExportSample& sample : table.samples) {
    if (sample.label < 0) continue;
    const fs::path place = free_place(folders[static_cast<size_t>(sample.label)], sample.name,
                                      [&](const fs::path& path) { return taken.contains(path); });
    taken.insert(place);
    zip.add(place.generic_string(), read_below(table.root, sample.name));
  }
  zip.commit();
  return std::ssize(taken);
}

}  // namespace

int64_t export_images(const ExportTable& table, const std::string& target, ImageExport how,
                      bool replace) {
  require(!table.root.empty(), "the samples are not image files: only images can go into folders");
  require(replace || !fs::exists(fs::symlink_status(target)), [&] {
    return fmt::format("{} exists: choose a {} that does not", target,
                       how == ImageExport::Zip ? "file" : "folder");
  });
  const fs::path beside = target + ".new";
  const std::vector<std::string> folders = part_folders(table.parts);
  if (how == ImageExport::Zip) return zip_images(table, folders, target);
  int64_t count = 0;
  try {
    fs::remove_all(beside);
    for (const std::string& folder : folders) fs::create_directories(beside / folder);
    for (const ExportSample& sample : table.samples) {
      if (sample.label < 0) continue;
      const fs::path folder = beside / folders[static_cast<size_t>(sample.label)];
      place_image(table.root, sample.name, free_place(folder, sample.name, is_on_disk), how);
      ++count;
    }
    fs::remove_all(target);
    fs::rename(beside, target);
  } catch (const std::exception& problem) {
    std::error_code error;
    fs::remove_all(beside, error);
    throw IoError(fmt::format("the images cannot be put into folders: {}", problem.what()));
  }
  return count;
}

}  // namespace milieu

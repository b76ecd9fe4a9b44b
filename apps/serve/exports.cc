// SPDX-License-Identifier: Apache-2.0
// What a person exports: labels as tables, images in folders by part, the report.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <set>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/file/read_below.h"
#include "milieu/data/text_file.h"
#include "serve/explorer.h"

namespace milieu::serve {

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
std::vector<std::string> part_folders(const RunRecord& run, const std::vector<PartInfo>& parts) {
  std::vector<std::string> folders;
  std::set<std::string> taken;
  for (size_t k = 0; k < parts.size(); ++k) {
    std::string name = folder_name(part_name(run.part_names, parts[k]));
    if (!taken.insert(name).second) {
      name += fmt::format(" ({})", k + 1);
      taken.insert(name);
    }
    folders.push_back(name);
  }
  return folders;
}

// The file's place in a folder: its own name, or with its class in front where that is taken.
fs::path free_place(const fs::path& folder, const std::string& name) {
  const fs::path plain = folder / fs::path(name).filename();
  if (!fs::exists(fs::symlink_status(plain))) return plain;
  std::string whole = name;
  for (char& c : whole)
    if (c == '/') c = '_';
  return folder / whole;
}

void place_image(const Collection& collection, const std::string& name, const fs::path& place,
                 bool links) {
  if (links) {
    fs::create_symlink(fs::absolute(fs::path(collection.root()) / name), place);
    return;
  }
  const std::vector<uint8_t> bytes = read_below(collection.root(), name);
  write_file_atomically(place.string(),
                        {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::string labels_csv(const RunRecord& run, const RunView& result, const Collection& collection) {
  const ViewColumns& columns = result.columns;
  CsvWriter table;
  table.row("sample", "label", "part", "margin", "row", "class");
  for (size_t i = 0; i < columns.rows.size(); ++i) {
    const int64_t row = columns.rows[i];
    const int label = columns.labels[i], index = collection.class_of(row);
    std::optional<std::string> part, class_name;
    if (label >= 0) part = part_name(run.part_names, result.parts[static_cast<size_t>(label)]);
    if (index >= 0) class_name = collection.data().labels.names[static_cast<size_t>(index)];
    table.row(collection.row_name(row), label, part, columns.margins[i], row, class_name);
  }
  return table.text();
}

Json labels_json(const RunRecord& run, const RunView& result, const Collection& collection) {
  Json samples = Json::array();
  const ViewColumns& columns = result.columns;
  for (size_t i = 0; i < columns.rows.size(); ++i)
    samples.push_back({{"sample", collection.row_name(columns.rows[i])},
                       {"row", columns.rows[i]},
                       {"label", columns.labels[i]},
                       {"margin", columns.margins[i]}});
  std::vector<std::string> names;
  for (const PartInfo& part : result.parts) names.push_back(part_name(run.part_names, part));
  return {{"name", run.name},
          {"method", run.method},
          {"command", run.command},
          {"parts", std::move(names)},
          {"samples", std::move(samples)}};
}

std::string report_again(const RunRecord& run, const RunView& result,
                         const Collection& collection) {
  internal::PageFiles files;
  for (const Json& file : files_of(run)) {
    const auto name = file["name"].get<std::string>();
    if (name.ends_with(".png") || name.ends_with(".svg"))
      files.emplace_back(name, try_read_text_file(run.run_folder() + "/" + name).value_or(""));
  }
  return internal::page_again(try_read_text_file(run.run_folder() + "/report.html").value_or(""),
                              run.page(), result, collection, files);
}

Json export_folders(const RunRecord& run, const RunView& result, const Collection& collection,
                    bool links) {
  if (!collection.has_image_files())
    throw InvalidArgument("the rows are numbers: only images can be put into folders");
  const fs::path target = fs::path(run.folder) / "parts", beside = target.string() + ".new";
  const std::vector<std::string> folders = part_folders(run, result.parts);
  int64_t count = 0;
  try {
    fs::remove_all(beside);
    for (const PartInfo& part : result.parts) {
      const fs::path folder = beside / folders[static_cast<size_t>(part.index)];
      fs::create_directories(folder);
      for (const int64_t member : part.members) {
        const std::string name =
            collection.row_name(result.columns.rows[static_cast<size_t>(member)]);
        place_image(collection, name, free_place(folder, name), links);
        ++count;
      }
    }
    fs::remove_all(target);
    fs::rename(beside, target);
  } catch (const std::exception& problem) {
    std::error_code error;
    fs::remove_all(beside, error);
    throw IoError(fmt::format("the images cannot be put into folders: {}", problem.what()));
  }
  return {{"path", fs::absolute(target).string()}, {"count", count}};
}

}  // namespace milieu::serve

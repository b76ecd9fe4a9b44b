// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <vl/generic.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <opencv2/core/version.hpp>
#include <optional>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/base/summary.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/dataset.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/data/text_file.h"
#include "milieu/feature/cache/feature_folder_internal.h"
#include "milieu/feature/cache/feature_store.h"

namespace milieu::internal {
namespace {

using Json = nlohmann::ordered_json;

FolderRecord parse_features_json(const Json& json, const std::string& path) {
  FolderRecord record;
  if (json.at("format").get<int>() > kFolderFormat)
    throw DataError(fmt::format("{} has format {}, this Milieu reads {}: use a newer version", path,
                                json.at("format").get<int>(), kFolderFormat));
  record.source = json.at("source").get<std::string>();
  record.absolute_source = json.value("absolute_source", "");
  record.num_images = json.at("images").at("count").get<int64_t>();
  if (!parse_hex(json.at("images").at("hash").get<std::string>(), record.images))
    throw DataError(fmt::format("{} has an invalid hash", path));
  record.max_side = json.at("decode").at("max_side").get<int>();
  record.max_pixels = json.at("decode").at("max_pixels").get<int64_t>();
  for (const auto& [id, entry] : json.at("features").items()) {
    FeatureRecord feature;
    feature.id = id;
    feature.spec = entry.at("spec").get<std::string>();
    feature.kind = entry.at("kind").get<std::string>();
    feature.options_json = entry.at("options").dump();
    feature.key = entry.at("key").get<std::string>();
    feature.patches_key = entry.value("patches_key", "");
    feature.cols = entry.at("columns").get<int64_t>();
    if (entry.contains("files"))
      feature.files = entry.at("files").get<std::map<std::string, std::string>>();
    record.features.push_back(std::move(feature));
  }
  return record;
}

}  // namespace

std::string images_csv(const std::vector<ImageRow>& rows) {
  CsvWriter table;
  table.row("path", "class", "width", "height", "hash");
  for (const ImageRow& row : rows)
    table.row(row.path, row.class_name.empty() ? std::nullopt : std::optional(row.class_name),
              row.width, row.height, hex(row.hash));
  return table.text();
}

std::vector<ImageRow> read_images_csv(const std::string& path) {
  std::vector<ImageRow> rows;
  for (const std::vector<std::string>& cells : read_csv_records(read_text_file(path))) {
    ImageRow row;
    if (cells.size() != 5 || !parse_hex(cells[4], row.hash))
      throw DataError(
          fmt::format("{}: line {} is not path,class,width,height,hash", path, rows.size() + 2));
    row.path = cells[0];
    row.class_name = cells[1];
    row.width = std::atoi(cells[2].c_str());
    row.height = std::atoi(cells[3].c_str());
    rows.push_back(std::move(row));
  }
  return rows;
}

void write_features_json(const std::string& path, const FolderRecord& record) {
  Json json;
  json["format"] = kFolderFormat;
  json["versions"] = {{"milieu", version()}, {"opencv", CV_VERSION}, {"vlfeat", VL_VERSION_STRING}};
  json["source"] = record.source;
  json["absolute_source"] = record.absolute_source;
  json["images"] = {{"count", record.num_images}, {"hash", hex(record.images)}};
  json["decode"] = {{"max_side", record.max_side}, {"max_pixels", record.max_pixels}};
  json["features"] = Json::object();
  for (const FeatureRecord& feature : record.features) {
    Json entry;
    entry["spec"] = feature.spec;
    entry["kind"] = feature.kind;
    entry["columns"] = feature.cols;
    entry["options"] = Json::parse(feature.options_json);
    entry["key"] = feature.key;
    if (!feature.patches_key.empty()) entry["patches_key"] = feature.patches_key;
    if (!feature.files.empty()) entry["files"] = feature.files;
    json["features"][feature.id] = std::move(entry);
  }
  write_file_atomically(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

FolderRecord read_features_json(const std::string& path) {
  try {
    return parse_features_json(Json::parse(read_text_file(path)), path);
  } catch (const Json::exception& error) {
    throw DataError(
        fmt::format("{} is not the features.json of a feature folder: {}", path, error.what()));
  }
}

StoreFiles whole_files(const std::string& out, const std::string& id) {
  return {.values = out + "/" + id + ".npy", .frames = {}, .offsets = {}, .grids = {}};
}
StoreFiles count_files(const std::string& out, const std::string& id) {
  return {.values = hidden(out, id + ".counts.npy"), .frames = {}, .offsets = {}, .grids = {}};
}
StoreFiles patch_files(const std::string& out, const std::string& id) {
  const std::string stem = out + "/" + id;
  return {.values = stem + ".descriptors.npy",
          .frames = stem + ".frames.npy",
          .offsets = stem + ".offsets.npy",
          .grids = stem + ".grids.npy"};
}
std::string hidden(const std::string& out, const std::string& name) {
  return out + "/.milieu/" + name;
}

std::vector<std::string> files_of(const std::string& out, const FeatureRecord& feature) {
  std::vector<std::string> paths = {whole_files(out, feature.id).values};
  const auto add = [&](const StoreFiles& files) {
    for (const std::string& path : files.all()) paths.push_back(path);
  };
  if (feature.kind == "words") add(count_files(out, feature.id));
  if (!feature.patches_key.empty()) add(patch_files(out, feature.id));
  if (feature.kind == "words")
    for (const std::string& name : vocabulary_files(out, feature.id))
      paths.push_back(out + "/" + name);
  for (std::string& path : paths) path = name_in(out, path);
  return paths;
}

std::map<std::string, std::string> print_files(const std::string& out,
                                               const std::vector<std::string>& names) {
  std::map<std::string, std::string> prints;
  for (const std::string& name : names) prints[name] = print_of_file(out + "/" + name);
  return prints;
}

std::vector<std::string> damaged_files(const std::string& out, const FeatureRecord& feature) {
  std::vector<std::string> damaged;
  for (const auto& [name, print] : feature.files)
    if (print_of_file(out + "/" + name) != print) damaged.push_back(name);
  return damaged;
}

std::string name_in(const std::string& out, const std::string& path) {
  return path.substr(out.size() + 1);
}

std::string print_of_file(const std::string& path) {
  try {
    return Fingerprint("file").path(path).hex();
  } catch (const Error&) {
    return "";
  }
}

void write_vocabulary(const std::string& folder, const std::string& id, const Vocabulary& v) {
  const std::string stem = folder + "/" + id;
  if (!v.pca.components.empty()) {
    Matrix<double> table(v.pca.components.rows() + 1, v.pca.components.cols());
    std::copy(v.pca.mean.begin(), v.pca.mean.end(), table.row(0));
    std::copy_n(v.pca.components.data(), v.pca.components.size(), table.row(1));
    write_npy(stem + ".pca.npy", std::as_const(table).view());
  } else {
    std::filesystem::remove(stem + ".pca.npy");
  }
  write_npy(stem + ".codebook.npy", v.words.centers.view());
}

Vocabulary read_vocabulary(const std::string& folder, const std::string& id) {
  const std::string stem = folder + "/" + id;
  Vocabulary v;
  v.words.centers = Matrix<float>(load_dataset(stem + ".codebook.npy").points.view());
  if (!std::filesystem::exists(stem + ".pca.npy")) return v;
  const RawArray raw = open_npy(stem + ".pca.npy");
  if (raw.rows() != v.words.centers.cols() + 1)
    throw DataError(
        fmt::format("{}.pca.npy has {}, must have one more than the codebook has "
                    "columns ({})",
                    stem, counted(raw.rows(), "row"), v.words.centers.cols()));
  v.pca.components = Matrix<double>(raw.rows() - 1, raw.cols());
  for (int64_t j = 0; j < raw.cols(); ++j) {
    v.pca.mean.push_back(element_at(raw, 0, j));
    for (int64_t i = 1; i < raw.rows(); ++i) v.pca.components(i - 1, j) = element_at(raw, i, j);
  }
  return v;
}

bool has_vocabulary(const std::string& folder, const std::string& id) {
  return std::filesystem::exists(folder + "/" + id + ".codebook.npy");
}

uint64_t hash_of(const Vocabulary& v) {
  return Fingerprint("vocabulary")
      .rows(v.words.centers.view())
      .values(std::span<const double>(v.pca.mean))
      .rows(v.pca.components.view())
      .value();
}

}  // namespace milieu::internal

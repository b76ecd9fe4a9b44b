// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/export/export_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "milieu/base/error.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/text_file.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/store/columns.h"

namespace milieu {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void take_edits(const Edits& edits, ExportTable& table) {
  for (const auto& [place, part] : edits.moves)
    table.samples[static_cast<size_t>(place)].is_by_hand = true;
  const auto n = static_cast<int64_t>(table.samples.size());
  const std::vector<std::vector<std::string>> tags = tags_by_sample(edits, n);
  for (size_t i = 0; i < tags.size(); ++i) table.samples[i].tags = tags[i];
}

Json read_json(const std::string& path) {
  const std::optional<std::string> text = try_read_text_file(path);
  const Json json = text ? Json::parse(*text, nullptr, false) : Json();
  return json.is_object() ? json : Json::object();
}

std::string text_at(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

// The folder that the samples' names are below; "" when they are rows of numbers.
std::string image_root(const Json& options) {
  const Json input = options.value("input", Json::object());
  const std::string path = input.is_object() ? text_at(input, "path") : "";
  std::error_code error;
  if (!path.empty() && fs::is_directory(path, error)) return path;
  return path.ends_with(".txt") ? fs::path(path).parent_path().string() : "";
}

void read_samples(const std::string& run_folder, ExportTable& table) {
  // Keypoints and groups have labels of their own; images and rows are in row_labels.csv then.
  const std::optional<std::string> rows = try_read_text_file(run_folder + "/row_labels.csv");
  const std::optional<std::string> text =
      rows ? rows : try_read_text_file(run_folder + "/labels.csv");
  if (!text) throw IoError(fmt::format("{}/labels.csv cannot be read", run_folder));
  for (const std::vector<std::string>& cells : read_csv_records(*text)) {
    if (cells.size() != 2)
      throw DataError(fmt::format("{}/labels.csv: a line is not sample,label", run_folder));
    ExportSample sample;
    sample.name = cells[0];
    sample.row = static_cast<int64_t>(table.samples.size());
    std::from_chars(cells[1].data(), cells[1].data() + cells[1].size(), sample.label);
    if (!table.root.empty()) sample.class_name = fs::path(sample.name).parent_path().string();
    table.samples.push_back(std::move(sample));
  }
  const std::string columns = run_folder + "/" + kColumnsName;
  if (rows || !fs::exists(columns)) return;
  const std::vector<Column> kept = read_columns(columns);
  const std::vector<float>* margins = find_reals(kept, "margins");
  if (!margins || margins->size() != table.samples.size()) return;
  table.has_margins = true;
  for (size_t i = 0; i < margins->size(); ++i) table.samples[i].margin = (*margins)[i];
}

// Names by hand, else by the labels of --describe, else "Part 3".
void name_parts(const std::string& summary, const Edits& edits, int num_parts, ExportTable& table) {
  const std::vector<PartNames> labels = names_of(summary);
  for (int k = 0; k < num_parts; ++k) {
    PartInfo part;
    part.index = k;
    if (static_cast<size_t>(k) < labels.size()) part.names = labels[static_cast<size_t>(k)];
    table.parts.push_back(part_name(edits.part_names, part));
  }
}

Json coco_image(const ExportTable& table, const ExportSample& sample, size_t id) {
  const Image image = load_image(table.path_of(sample), {.max_side = 0});
  return {
      {"id", id + 1}, {"file_name", sample.name}, {"width", image.width}, {"height", image.height}};
}

}  // namespace

std::string ExportTable::part_of(const ExportSample& sample) const {
  return sample.label < 0 ? "" : parts[static_cast<size_t>(sample.label)];
}

std::string ExportTable::path_of(const ExportSample& sample) const {
  return root.empty() ? sample.name : (fs::path(root) / sample.name).string();
}

ExportTable make_export_table(const RunView& view, const Edits& edits,
                              const Collection& collection) {
  ExportTable table;
  table.has_margins = true;
  if (collection.has_image_files()) table.root = collection.root();
  for (const PartInfo& part : view.parts) table.parts.push_back(part_name(edits.part_names, part));
  const ViewColumns& columns = view.columns;
  for (size_t i = 0; i < columns.rows.size(); ++i) {
    ExportSample sample;
    sample.row = columns.rows[i];
    sample.name = collection.row_name(sample.row);
    const int index = collection.class_of(sample.row);
    if (index >= 0) sample.class_name = collection.data().labels.names[static_cast<size_t>(index)];
    sample.label = columns.labels[i];
    sample.margin = columns.margins[i];
    table.samples.push_back(std::move(sample));
  }
  take_edits(edits, table);
  return table;
}

ExportTable read_export_table(const std::string& run_folder, bool is_original) {
  const std::optional<std::string> summary = try_read_text_file(run_folder + "/summary.json");
  require(summary.has_value(), [&] {
    return fmt::format("{} is not a run folder: it has no summary.json", run_folder);
  });
  ExportTable table;
  table.name = fs::path(run_folder).lexically_normal().filename().string();
  table.method = text_at(read_json(run_folder + "/summary.json"), "method");
  table.root = image_root(read_json(run_folder + "/options.json"));
  read_samples(run_folder, table);
  const auto n = static_cast<int64_t>(table.samples.size());
  Edits edits = read_edits(run_folder, n).value_or(Edits{});
  if (is_original) edits.moves.clear();
  for (const auto& [place, part] : edits.moves) {
    table.samples[static_cast<size_t>(place)].label = part;
    table.samples[static_cast<size_t>(place)].margin = 0;
  }
  int num_parts = is_original ? 0 : edits.num_parts;
  for (const ExportSample& sample : table.samples)
    num_parts = std::max(num_parts, sample.label + 1);
  name_parts(*summary, edits, num_parts, table);
  take_edits(edits, table);
  return table;
}

std::string export_csv(const ExportTable& table) {
  CsvWriter csv;
  csv.row("sample", "label", "part", "margin", "row", "class", "by_hand", "tags", "path");
  const std::optional<std::string> nothing;
  for (const ExportSample& sample : table.samples) {
    csv.cell(sample.name).cell(sample.label);
    csv.cell(sample.label < 0 ? nothing : std::optional(table.part_of(sample)));
    if (table.has_margins)
      csv.cell(sample.margin);
    else
      csv.cell(nothing);
    csv.cell(sample.row).cell(sample.class_name.empty() ? nothing : sample.class_name);
    csv.cell(sample.is_by_hand ? 1 : 0);
    csv.cell(sample.tags.empty() ? nothing : fmt::format("{}", fmt::join(sample.tags, ";")));
    csv.cell(table.path_of(sample));
    csv.end_row();
  }
  return csv.text();
}

std::string export_json(const ExportTable& table) {
  Json samples = Json::array();
  for (const ExportSample& sample : table.samples) {
    Json json{{"sample", sample.name}, {"path", table.path_of(sample)}, {"row", sample.row}};
    if (!sample.class_name.empty()) json["class"] = sample.class_name;
    json["label"] = sample.label;
    json["part"] = sample.label < 0 ? Json() : Json(table.part_of(sample));
    if (table.has_margins) json["margin"] = sample.margin;
    if (sample.is_by_hand) json["by_hand"] = true;
    if (!sample.tags.empty()) json["tags"] = sample.tags;
    samples.push_back(std::move(json));
  }
  return dumped({{"name", table.name},
                 {"method", table.method},
                 {"command", table.command},
                 {"parts", table.parts},
                 {"samples", std::move(samples)}});
}

std::string export_coco(const ExportTable& table) {
  require(!table.root.empty(), "the samples are not image files: COCO describes images");
  Json images = Json::array(), annotations = Json::array(), categories = Json::array();
  for (size_t k = 0; k < table.parts.size(); ++k)
    categories.push_back({{"id", k + 1}, {"name", table.parts[k]}, {"supercategory", "part"}});
  for (size_t i = 0; i < table.samples.size(); ++i) {
    const ExportSample& sample = table.samples[i];
    images.push_back(coco_image(table, sample, i));
    if (sample.label < 0) continue;
    const int64_t width = images.back()["width"], height = images.back()["height"];
    annotations.push_back({{"id", annotations.size() + 1},
                           {"image_id", i + 1},
                           {"category_id", sample.label + 1},
                           {"bbox", {0, 0, width, height}},
                           {"area", width * height},
                           {"iscrowd", 0}});
  }
  return dumped({{"info", {{"description", fmt::format("{}, {}", table.name, table.method)}}},
                 {"images", std::move(images)},
                 {"annotations", std::move(annotations)},
                 {"categories", std::move(categories)}});
}

}  // namespace milieu

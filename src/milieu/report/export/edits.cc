// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/export/edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/text_file.h"

namespace milieu {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr int kMaxParts = 10'000;
constexpr size_t kMaxText = 200;  // bytes of a tag or a part's name

[[noreturn]] void fail(const std::string& what) {
  throw DataError(fmt::format("{}: {}", kEditsName, what));
}

const Json& list_in(const Json& json, const char* key) {
  static const Json none = Json::array();
  if (!json.contains(key)) return none;
  if (!json[key].is_array()) fail(fmt::format("{} must be a list", key));
  return json[key];
}

int64_t place_of(const Json& entry, const char* key, int64_t num_samples) {
  if (!entry.is_array() || entry.size() != 2 || !entry[0].is_number_integer())
    fail(fmt::format("{} must hold pairs that begin with a place", key));
  const auto place = entry[0].get<int64_t>();
  if (place < 0 || place >= num_samples)
    fail(fmt::format("{} names place {}, there are {} samples", key, place, num_samples));
  return place;
}

std::string text_of(const Json& json, const char* key) {
  if (!json.is_string() || json.get_ref<const std::string&>().size() > kMaxText)
    fail(fmt::format("{} must hold texts of at most {} bytes", key, kMaxText));
  return json.get<std::string>();
}

void read_moves(const Json& json, int64_t num_samples, Edits& edits) {
  for (const Json& entry : list_in(json, "moves")) {
    const int64_t place = place_of(entry, "moves", num_samples);
    const bool is_whole = entry[1].is_number_integer();
    const int64_t part = is_whole ? entry[1].get<int64_t>() : -2;
    if (part < Edits::kSetAside || part >= edits.num_parts)
      fail(fmt::format("moves names part {}, must be from -1 (set aside) to {}", entry[1].dump(),
                       edits.num_parts - 1));
    edits.moves.emplace_back(place, static_cast<int>(part));
  }
}

// How certain the labels are after the moves: by decision values where the method has them.
void renew_margins(const ViewColumns& before, const Collection& collection, ViewColumns& columns) {
  const auto width = static_cast<size_t>(before.num_parts);
  if (before.decisions.empty() || width < 2) {
    columns.margins = mean_margins(collection.data().points.view(), columns.rows, columns.labels,
                                   columns.num_parts);
    return;
  }
  for (size_t i = 0; i < columns.labels.size(); ++i) {
    if (columns.labels[i] == before.labels[i]) continue;
    const float* values = before.decisions.data() + i * width;
    const int own = columns.labels[i];
    float other = 0;
    bool has_other = false;
    for (size_t k = 0; k < width; ++k) {
      if (static_cast<int>(k) == own) continue;
      other = has_other ? std::max(other, values[k]) : values[k];
      has_other = true;
    }
    const bool is_scored = own >= 0 && own < before.num_parts;
    columns.margins[i] = is_scored ? values[own] - other : 0;
  }
}

}  // namespace

std::string to_json_text(const Edits& edits) {
  Json json{{"version", kVersion},
            {"num_parts", edits.num_parts},
            {"moves", edits.moves},
            {"tags", edits.tags},
            {"part_names", edits.part_names}};
  if (!edits.history.empty()) json["history"] = Json::parse(edits.history, nullptr, false);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Edits edits_from_json(std::string_view text, int64_t num_samples) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) fail("is not a JSON object");
  if (!json.contains("version") || json["version"] != kVersion)
    fail(fmt::format("has another version than {}: use the program that wrote it", kVersion));
  Edits edits;
  const Json parts = json.value("num_parts", Json());
  if (!parts.is_number_integer() || parts < 0 || parts > kMaxParts)
    fail(fmt::format("num_parts must be a whole number from 0 to {}", kMaxParts));
  edits.num_parts = parts.get<int>();
  read_moves(json, num_samples, edits);
  for (const Json& entry : list_in(json, "tags"))
    edits.tags.emplace_back(place_of(entry, "tags", num_samples), text_of(entry[1], "tags"));
  for (const Json& name : list_in(json, "part_names"))
    edits.part_names.push_back(text_of(name, "part_names"));
  if (edits.part_names.size() > static_cast<size_t>(kMaxParts))
    fail(fmt::format("part_names must hold at most {} names", kMaxParts));
  if (json.contains("history") && !json["history"].is_null())
    edits.history = json["history"].dump(-1, ' ', false, Json::error_handler_t::replace);
  return edits;
}

std::optional<Edits> read_edits(const std::string& run_folder, int64_t num_samples) {
  const std::optional<std::string> text = try_read_text_file(run_folder + "/" + kEditsName);
  if (!text) return std::nullopt;
  return edits_from_json(*text, num_samples);
}

void write_edits(const std::string& run_folder, const Edits& edits) {
  const std::string path = run_folder + "/" + kEditsName;
  if (!edits.empty() || !edits.history.empty()) {
    write_file_atomically(path, to_json_text(edits));
    return;
  }
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) throw IoError(fmt::format("{} cannot be removed: {}", path, error.message()));
}

std::vector<std::vector<std::string>> tags_by_sample(const Edits& edits, int64_t num_samples) {
  std::vector<std::vector<std::string>> tags(static_cast<size_t>(num_samples));
  for (const auto& [place, tag] : edits.tags) tags[static_cast<size_t>(place)].push_back(tag);
  return tags;
}

RunView edited_view(const RunView& view, const Edits& edits, const Collection& collection) {
  RunView edited = view;
  if (edits.moves.empty() && edits.num_parts <= view.columns.num_parts) return edited;
  ViewColumns& columns = edited.columns;
  columns.num_parts = std::max(edits.num_parts, view.columns.num_parts);
  for (const auto& [place, part] : edits.moves) columns.labels[static_cast<size_t>(place)] = part;
  renew_margins(view.columns, collection, columns);
  if (columns.num_parts != view.columns.num_parts) {  // decision values have no room for new parts
    columns.decisions.clear();
    columns.context_decisions.clear();
    columns.context_rows.clear();
  }
  edited.parts = describe_parts(columns, collection);
  for (size_t k = 0; k < view.parts.size(); ++k) edited.parts[k].names = view.parts[k].names;
  return edited;
}

}  // namespace milieu

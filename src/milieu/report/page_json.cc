// SPDX-License-Identifier: Apache-2.0
// Collections and runs as the page reads them.
#include "milieu/report/page_json.h"

#include <algorithm>
#include <array>

#include "milieu/base/summary.h"
#include "milieu/data/file/read_below.h"
#include "milieu/feature/decode/decode.h"

namespace milieu::internal {

namespace {

// [penalty, number of exemplars] of each trial, the smallest penalty first; empty without trials.
Json penalty_curve(const Json& summary) {
  std::vector<std::pair<double, double>> trials;
  const Json none = Json::array();
  const Json& penalties = summary.contains("curve_penalties") ? summary["curve_penalties"] : none;
  const Json& counts =
      summary.contains("curve_num_exemplars") ? summary["curve_num_exemplars"] : none;
  if (!penalties.is_array() || !counts.is_array()) return none;
  for (size_t i = 0; i < std::min(penalties.size(), counts.size()); ++i)
    if (penalties[i].is_number() && counts[i].is_number())
      trials.emplace_back(penalties[i].get<double>(), counts[i].get<double>());
  std::sort(trials.begin(), trials.end());
  return trials;
}

bool has_exemplars(const Json& summary) {
  return summary.is_object() && summary.contains("exemplars") && summary["exemplars"].is_array();
}

// What exists for one method only: ranked contexts, exemplars, the curve of penalties, weights,
// phrases with their groups or images.
Json extras_json(const PageRun& run, const RunView& view) {
  Json extras = Json::object();
  if (run.ranks_contexts) extras["contexts"] = contexts_json(view.contexts);
  if (has_exemplars(run.summary)) {
    extras["exemplars"] = exemplar_rows(run.summary, view.columns);
    const Json curve = penalty_curve(run.summary);
    if (!curve.empty()) extras["penalty_curve"] = curve;
  }
  for (const auto& [name, weight] : view.weights)
    extras["weights"].push_back({{"name", name}, {"weight", weight}});
  if (!view.words.phrases.empty()) extras["phrases"] = view.words.phrases;
  for (const NamedGroup& group : view.words.groups)
    extras["groups"].push_back(
        {{"name", group.name}, {"phrase", group.phrase}, {"rows", group.rows}});
  for (const auto& [row, words] : view.words.images)
    extras["images"].push_back({{"row", row}, {"words", words.size()}});
  return extras;
}

}  // namespace

std::vector<int32_t> exemplar_rows(const Json& summary, const ViewColumns& columns) {
  std::vector<int32_t> rows;
  if (!has_exemplars(summary)) return rows;
  for (const Json& place : summary["exemplars"])
    if (place.is_number_unsigned() && place.get<size_t>() < columns.rows.size())
      rows.push_back(columns.rows[place.get<size_t>()]);
  return rows;
}

Json brief_json(const PageRun& run) {
  const auto from_summary = [&](const char* key) {
    return run.summary.is_object() && run.summary.contains(key) ? run.summary[key] : Json();
  };
  const auto or_zero = [&](const char* key) {
    return from_summary(key).is_null() ? Json(0) : from_summary(key);
  };
  Json json{{"id", run.id},       {"name", run.name},       {"method", run.method},
            {"state", run.state}, {"created", run.created}, {"seconds", or_zero("seconds")}};
  const bool is_open = run.state == "queued" || run.state == "running";
  if (run.progress.is_object() && is_open && run.progress.contains("seconds"))
    json["seconds"] = run.progress["seconds"];
  if (!run.error.empty()) json["error"] = run.error;
  json["n"] = run.n;
  json["clusters"] = or_zero("clusters");
  json["objective"] = from_summary("objective");
  if (!from_summary("confidence").is_null()) json["confidence"] = from_summary("confidence");
  json["rank_contexts"] = run.ranks_contexts;
  json["request"] = run.request;
  return json;
}

std::string file_title(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTitles = {{
      {"labels.csv", "labels"},
      {"summary.json", "summary"},
      {"options.json", "options"},
      {"report.html", "report"},
      {"decisions.csv", "decision values"},
      {"contexts.csv", "ranked contexts"},
  }};
  for (const auto& [file, title] : kTitles)
    if (name == file) return std::string(title);
  std::string title = name.substr(0, name.rfind('.'));
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

Json collection_json(const Collection& collection) {
  Json classes = Json::array();
  const std::vector<std::string>& names = collection.data().labels.names;
  for (size_t c = 0; c < names.size(); ++c)
    classes.push_back({{"name", names[c]}, {"count", collection.class_sizes()[c]}});
  return {{"name", collection.name()},
          {"kind", collection.has_image_files() ? "images" : "vectors"},
          {"n", collection.size()},
          {"d", collection.data().points.cols()},
          {"feature", collection.feature()},
          {"has_images", collection.has_images()},
          {"binary", collection.is_binary()},
          {"warnings", collection.warnings()},
          {"classes", std::move(classes)},
          {"version", version()}};
}

namespace {

Json labels_json(const std::vector<NamedLabel>& labels) {
  Json list = Json::array();
  for (const NamedLabel& label : labels)
    list.push_back({{"name", label.name}, {"sure", label.sure}});
  return list;
}

const char* named_by_word(NamedBy named) {
  return named == NamedBy::Hand ? "hand" : named == NamedBy::Labels ? "labels" : "number";
}

}  // namespace

Json parts_json(const std::vector<PartInfo>& parts, const std::vector<std::string>& part_names) {
  Json list = Json::array();
  for (const PartInfo& part : parts) {
    Json classes = Json::array();
    for (const auto& [name, count] : part.classes) classes.push_back({name, count});
    list.push_back({{"index", part.index},
                    {"name", part_name(part_names, part)},
                    {"named_by", named_by_word(named_by(part_names, part))},
                    {"labels", labels_json(part.names.labels)},
                    {"exemplar_labels", labels_json(part.names.exemplar)},
                    {"size", part.members.size()},
                    {"mean_margin", part.mean_margin},
                    {"typical", part.typical},
                    {"border", part.border},
                    {"apart", part.apart},
                    {"classes", std::move(classes)}});
  }
  return list;
}

Json contexts_json(const std::vector<RankedContext>& contexts) {
  Json list = Json::array();
  for (const RankedContext& context : contexts) {
    std::vector<int64_t> sizes;
    for (const int label : context.labels) {
      if (label >= static_cast<int>(sizes.size())) sizes.resize(static_cast<size_t>(label) + 1);
      if (label >= 0) ++sizes[static_cast<size_t>(label)];
    }
    list.push_back({{"name", context.name},
                    {"rank", context.rank},
                    {"score", context.match},
                    {"confidence", context.confidence},
                    {"stability", context.stability},
                    {"consensus", context.consensus},
                    {"outliers", context.is_outlier_split},
                    {"sizes", sizes},
                    {"labels", context.labels}});
  }
  return list;
}

Json detail_json(const PageRun& run, const RunView& view) {
  Json json = brief_json(run);
  json["command"] = run.command;
  json["summary"] = run.summary;
  json["trace"] =
      run.summary.is_object() ? run.summary.value("trace", Json::array()) : Json::array();
  json["parts"] = parts_json(view.parts, run.part_names);
  json["columns"] = view.columns.names();
  json["files"] = Json::array();
  const Json extras = extras_json(run, view);
  if (!extras.empty()) json["extras"] = extras;
  return json;
}

Json image_words_json(const WordView& words, const Collection& collection, int64_t row) {
  const auto found = words.images.find(static_cast<int32_t>(row));
  if (found == words.images.end()) return nullptr;
  const std::string name = collection.row_name(row);
  const Image image = limit_side(decode_image(read_below(collection.root(), name), name),
                                 collection.keypoint_side());
  Json json{{"width", image.width}, {"height", image.height}};
  for (const char* key : {"places", "words", "phrases"}) json[key] = Json::array();
  for (const ImageWord& at : found->second) {
    json["places"].push_back(at.x);
    json["places"].push_back(at.y);
    json["words"].push_back(at.word);
    json["phrases"].push_back(at.phrase);
  }
  return json;
}

}  // namespace milieu::internal

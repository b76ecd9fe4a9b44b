// SPDX-License-Identifier: Apache-2.0
// Collections and runs as the page reads them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "milieu/base/error.h"
#include "milieu/base/summary.h"
#include "milieu/metrics/metrics.h"
#include "serve/explorer.h"
#include "serve/run_files.h"

namespace milieu::serve {

namespace fs = std::filesystem;

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

// A ranking: the order and scores of contexts.csv where it is complete, the splits with their
// labels of contexts.json in any case.
Json ranked_contexts(const RunRecord& run) {
  Json list = Json::array();
  const Json state =
      Json::parse(read_text_file(run.folder + "/contexts.json").value_or(""), nullptr, false);
  Json splits = Json::object();
  if (state.is_object() && state.contains("splits"))
    for (const Json& split : state["splits"]) splits[split.value("name", "")] = split;
  const auto add = [&](const std::string& name, int rank, double consensus) {
    const Json split = splits.value(name, Json::object());
    const std::vector<int> labels = split.value("labels", std::vector<int>());
    std::vector<int64_t> sizes;
    for (const int label : labels) {
      if (label >= static_cast<int>(sizes.size())) sizes.resize(static_cast<size_t>(label) + 1);
      if (label >= 0) ++sizes[static_cast<size_t>(label)];
    }
    list.push_back({{"name", name},
                    {"rank", rank},
                    {"score", consensus},
                    {"gain", split.value("gain", 0.0)},
                    {"stability", split.value("stability", 0.0)},
                    {"consensus", consensus},
                    {"sizes", sizes},
                    {"labels", labels}});
  };
  int rank = 0;
  for (const auto& row : read_csv_rows(run.run_folder() + "/contexts.csv"))
    if (row.size() >= 3) add(row[1], ++rank, std::strtod(row[2].c_str(), nullptr));
  if (list.empty())
    for (const auto& [name, split] : splits.items()) add(name, 0, 0.0);
  return list;
}

}  // namespace

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

Json collection_to_json(const Collection& collection) {
  Json classes = Json::array();
  const std::vector<std::string>& names = collection.data().labels.names;
  for (size_t c = 0; c < names.size(); ++c)
    classes.push_back({{"name", names[c]}, {"count", collection.class_sizes()[c]}});
  return {{"name", collection.name()},
          {"kind", collection.is_of_pictures() ? "pictures" : "vectors"},
          {"n", collection.size()},
          {"d", collection.data().points.cols()},
          {"feature", collection.feature()},
          {"has_pictures", collection.has_pictures()},
          {"classes", std::move(classes)},
          {"version", version()}};
}

Json extras_of(const RunRecord& run, const RunResult& result) {
  Json extras = Json::object();
  if (run.ranks_contexts) extras["contexts"] = ranked_contexts(run);
  if (run.summary.is_object() && run.summary.contains("exemplars") &&
      run.summary["exemplars"].is_array()) {
    Json rows = Json::array();  // of the collection, not of the set
    for (const Json& place : run.summary["exemplars"])
      if (place.is_number_unsigned() && place.get<size_t>() < result.columns.rows.size())
        rows.push_back(result.columns.rows[place.get<size_t>()]);
    extras["exemplars"] = std::move(rows);
    const Json curve = penalty_curve(run.summary);
    if (!curve.empty()) extras["penalty_curve"] = curve;
  }
  for (const auto& [name, weight] : result.weights)
    extras["weights"].push_back({{"name", name}, {"weight", weight}});
  if (!result.words.phrases.empty()) extras["phrases"] = result.words.phrases;
  for (const NamedGroup& group : result.words.groups)
    extras["groups"].push_back(
        {{"name", group.name}, {"phrase", group.phrase}, {"rows", group.rows}});
  for (const auto& [row, words] : result.words.pictures)
    extras["pictures"].push_back({{"row", row}, {"words", words.size()}});
  return extras;
}

Json detail_to_json(const RunRecord& run, const RunResult& result) {
  Json json = run.brief();
  json["command"] = run.command;
  json["summary"] = run.summary;
  json["trace"] =
      run.summary.is_object() ? run.summary.value("trace", Json::array()) : Json::array();
  json["parts"] = parts_to_json(result.parts, run.part_names);
  json["columns"] = result.columns.names();
  json["files"] = Json::array();
  const Json extras = extras_of(run, result);
  if (!extras.empty()) json["extras"] = extras;
  return json;
}

Json files_of(const RunRecord& run) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(run.run_folder(), error)) {
    const std::string ending = entry.path().extension().string();
    if (entry.is_symlink(error) || !entry.is_regular_file(error)) continue;
    if (ending == ".png" || ending == ".svg" || ending == ".csv" || ending == ".json" ||
        ending == ".html")
      names.push_back(entry.path().filename().string());
  }
  // class_2.png before class_10.png
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return ::strverscmp(a.c_str(), b.c_str()) < 0;
  });
  Json list = Json::array();
  for (const std::string& name : names)
    list.push_back({{"name", name}, {"title", file_title(name)}});
  return list;
}

Json compare_runs(const RunColumns& a, const RunColumns& b) {
  std::vector<int> first, second;
  std::vector<int64_t> common;
  std::vector<std::vector<int64_t>> table(static_cast<size_t>(a.num_parts),
                                          std::vector<int64_t>(static_cast<size_t>(b.num_parts)));
  size_t j = 0;
  for (size_t i = 0; i < a.rows.size(); ++i) {
    while (j < b.rows.size() && b.rows[j] < a.rows[i]) ++j;
    if (j == b.rows.size() || b.rows[j] != a.rows[i]) continue;
    common.push_back(a.rows[i]);
    if (a.labels[i] < 0 || b.labels[j] < 0) continue;
    first.push_back(a.labels[i]);
    second.push_back(b.labels[j]);
    ++table[static_cast<size_t>(a.labels[i])][static_cast<size_t>(b.labels[j])];
  }
  Json json{{"rows_in_both", common.size()}, {"table", table}};
  json["ari"] = nullptr;
  json["nmi"] = nullptr;
  if (!first.empty()) {
    const Metrics metrics = compute_metrics(first, second);
    json["ari"] = metrics.ari;
    json["nmi"] = metrics.nmi;
  }
  json["only_a"] = a.rows.size() - common.size();
  json["only_b"] = b.rows.size() - common.size();
  return json;
}

}  // namespace milieu::serve

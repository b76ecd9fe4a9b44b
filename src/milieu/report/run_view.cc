// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/run_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "milieu/base/error.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/text_file.h"

namespace milieu {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
std::string raw_bytes(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<int32_t> narrow(const std::vector<int64_t>& rows) { return {rows.begin(), rows.end()}; }

// Rows by the names in labels.csv; they are in the order of the set.
void read_labels(const RunFolderView& run, const Collection& collection, ViewColumns& view) {
  const auto lines = read_csv_records(try_read_text_file(run.folder + "/labels.csv").value_or(""));
  if (lines.size() != run.rows.size()) return;  // labels of something else: groups, patches
  for (size_t i = 0; i < lines.size(); ++i) {
    int label = -1;
    const std::string& text = lines[i].back();
    std::from_chars(text.data(), text.data() + text.size(), label);
    if (lines[i].size() != 2 || lines[i][0] != collection.row_name(run.rows[i]))
      throw DataError(kChangedCollection);
    view.labels.push_back(label);
    view.num_parts = std::max(view.num_parts, label + 1);
  }
  view.rows = narrow(run.rows);
}

// Decision values of the context are those of the rows that the explorer named.
void take_context(const std::vector<Column>& columns, const std::vector<int64_t>& context,
                  ViewColumns& view) {
  const std::vector<float>* values = find_reals(columns, "context_decisions");
  const std::vector<int32_t>* rows = find_wholes(columns, "context_rows");
  if (!values || !rows || context.empty() || *rows != narrow(context)) return;
  view.context_rows = *rows;
  view.context_decisions = *values;
}

std::vector<double> reals_of(const Json& json, const char* key) {
  std::vector<double> values;
  if (json.contains(key) && json[key].is_array())
    for (const Json& value : json[key])
      values.push_back(value.is_number() ? value.get<double>() : 0.0);
  return values;
}

// The labels of one part; an entry of the wrong type is left out.
std::vector<NamedLabel> labels_of(const Json& list) {
  std::vector<NamedLabel> labels;
  if (!list.is_array()) return labels;
  for (const Json& entry : list) {
    if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string()) continue;
    const auto number = [&](const char* key) {
      return entry.contains(key) && entry[key].is_number() ? entry[key].get<double>() : 0.0;
    };
    NamedLabel label;
    label.label = static_cast<int>(number("label"));
    label.name = entry["name"];
    label.sure = number("sure");
    label.mean = number("mean");
    label.lead = number("lead");
    label.p = number("p");
    labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace

std::vector<PartNames> names_of(const std::string& summary_json) {
  const Json summary = Json::parse(summary_json, nullptr, false);
  std::vector<PartNames> names;
  if (!summary.is_object() || !summary.contains("part_names") || !summary["part_names"].is_array())
    return names;
  for (const Json& part : summary["part_names"]) {
    PartNames& own = names.emplace_back();
    if (!part.is_object()) continue;
    if (part.contains("labels")) own.labels = labels_of(part["labels"]);
    if (part.contains("exemplar")) own.exemplar = labels_of(part["exemplar"]);
  }
  return names;
}

void take_names(const std::vector<PartNames>& names, RunView& view) {
  for (size_t k = 0; k < std::min(names.size(), view.parts.size()); ++k)
    view.parts[k].names = names[k];
}

std::optional<std::string> ViewColumns::bytes(const std::string& name) const {
  std::string found;
  if (name == "rows") found = raw_bytes(rows);
  if (name == "labels") found = raw_bytes(labels);
  if (name == "margins") found = raw_bytes(margins);
  if (name == "decisions") found = raw_bytes(decisions);
  if (name == "context_rows") found = raw_bytes(context_rows);
  if (name == "context_decisions") found = raw_bytes(context_decisions);
  if (name == "words") found = raw_bytes(words);
  if (name == "places") found = raw_bytes(places);
  return found.empty() ? std::nullopt : std::optional(std::move(found));
}

std::vector<std::string> ViewColumns::names() const {
  std::vector<std::string> out;
  for (const char* name : {"rows", "labels", "margins", "decisions", "context_rows",
                           "context_decisions", "words", "places"})
    if (bytes(name)) out.emplace_back(name);
  return out;
}

std::vector<std::pair<std::string, double>> weights_of(std::string_view csv) {
  std::vector<std::pair<std::string, double>> weights;
  for (const auto& row : read_csv_records(csv))
    if (row.size() >= 2) weights.emplace_back(row[0], std::strtod(row.back().c_str(), nullptr));
  std::stable_sort(weights.begin(), weights.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return weights;
}

void take_decisions(const std::vector<Column>& columns, std::span<const int64_t> rows,
                    ViewColumns& view) {
  const std::vector<float>* decisions = find_reals(columns, "decisions");
  if (!decisions) return;
  int64_t width = 1, height = 0;
  for (const Column& column : columns)
    if (column.name == "decisions") width = column.width, height = column.num_rows();
  for (const int64_t row : rows)
    if (row >= height) return;
  view.num_parts = static_cast<int>(width);
  for (const int64_t row : rows)
    view.decisions.insert(view.decisions.end(), decisions->begin() + row * width,
                          decisions->begin() + (row + 1) * width);
  const std::vector<float>* margins = find_reals(columns, "margins");
  if (width < 2 || !margins) return;
  for (const int64_t row : rows) view.margins.push_back((*margins)[static_cast<size_t>(row)]);
}

std::vector<RankedContext> ranked_contexts(const std::vector<Column>& columns,
                                           const std::string& summary_json) {
  const Json summary = Json::parse(summary_json, nullptr, false);
  if (!summary.is_object() || !summary.contains("contexts") || !summary["contexts"].is_array())
    return {};
  const auto consensus = reals_of(summary, "context_consensus");
  const auto match = reals_of(summary, "context_match");
  const auto confidence = reals_of(summary, "context_confidence");
  const auto stability = reals_of(summary, "context_stability");
  const Json outliers = summary.value("outlier_contexts", Json::array());
  const std::vector<int32_t>* labels = find_wholes(columns, "ranked_labels");
  const size_t count = summary["contexts"].size();
  std::vector<RankedContext> contexts;
  for (size_t c = 0; c < count; ++c) {
    RankedContext context;
    if (summary["contexts"][c].is_string()) context.name = summary["contexts"][c];
    context.rank = static_cast<int>(c) + 1;
    context.is_outlier_split =
        std::find(outliers.begin(), outliers.end(), Json(context.name)) != outliers.end();
    if (c < consensus.size()) context.consensus = consensus[c];
    if (c < match.size()) context.match = match[c];
    if (c < confidence.size()) context.confidence = confidence[c];
    if (c < stability.size()) context.stability = stability[c];
    for (size_t i = c; labels && i < labels->size(); i += count)
      context.labels.push_back((*labels)[i]);
    contexts.push_back(std::move(context));
  }
  return contexts;
}

void complete_view(RunView& view, const Collection& collection) {
  ViewColumns& columns = view.columns;
  if (columns.margins.empty())
    columns.margins = mean_margins(collection.data().points.view(), columns.rows, columns.labels,
                                   columns.num_parts);
  for (const int32_t row : columns.rows)
    for (size_t axis = 0; axis < 2 && !collection.positions().empty(); ++axis)
      columns.places.push_back(collection.positions()[2 * static_cast<size_t>(row) + axis]);
  view.parts = describe_parts(columns, collection);
}

RunView read_run_view(const RunFolderView& run, const Collection& collection) {
  RunView view;
  const std::string columns_path = run.folder + "/" + kColumnsName;
  const std::vector<Column> columns = std::filesystem::exists(columns_path)
                                          ? read_columns(columns_path)
                                          : columns_of_old_run(run.folder);
  view.words = read_words(run, columns, collection, view.columns);
  if (view.columns.labels.empty()) read_labels(run, collection, view.columns);
  view.weights = weights_of(try_read_text_file(run.folder + "/weights.csv").value_or(""));
  const std::string summary = try_read_text_file(run.folder + "/summary.json").value_or("");
  view.contexts = ranked_contexts(columns, summary);
  if (view.columns.labels.empty()) return view;
  std::vector<int64_t> places(run.rows.size());
  for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
  take_decisions(columns, places, view.columns);
  take_context(columns, run.context, view.columns);
  complete_view(view, collection);
  take_names(names_of(summary), view);
  return view;
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Descriptions of what Milieu writes: models, run folders, their JSON files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/base/summary.h"
#include "milieu/data/mapped_file.h"
#include "milieu/data/printable.h"
#include "milieu/store/describe_internal.h"
#include "milieu/store/json_internal.h"
#include "milieu/store/model_file.h"
#include "milieu/store/model_format_internal.h"

namespace milieu::internal {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxValueLength = 200;

// One line "name value, name value, ..." of the entries of a JSON object.
std::string entries_of(const Json& object) {
  std::vector<std::string> entries;
  for (const auto& [name, value] : object.items())
    entries.push_back(fmt::format(
        "{} {}", printable(name),
        printable(value.is_string() ? value.get<std::string>() : value.dump(), kMaxValueLength)));
  return fmt::format("{}", fmt::join(entries, ", "));
}

Json read_json_object(const std::string& path) {
  const auto file = MappedFile::open(path);
  ParsedJson parsed = parse_json(file->text());
  if (!parsed.problem.empty()) throw DataError(path + " " + parsed.problem);
  if (!parsed.value.is_object()) throw DataError(path + " must hold one JSON object");
  return std::move(parsed.value);
}

double number_or_zero(const Json& json, const char* key) {
  const auto entry = json.find(key);
  return entry != json.end() && entry->is_number() ? entry->get<double>() : 0;
}

int64_t count_or_zero(const Json& json, const char* key) {
  const auto entry = json.find(key);
  return entry != json.end() && entry->is_number_integer() ? entry->get<int64_t>() : 0;
}

std::string text_or_empty(const Json& json, const char* key) {
  const auto entry = json.find(key);
  return entry != json.end() && entry->is_string() ? printable(entry->get<std::string>()) : "";
}

bool is_summary(const Json& json) {
  return json.contains("method") && json.contains("termination");
}

// The line that the run itself printed.
std::string summary_line(const Json& json) {
  RunSummary summary;
  summary.method = text_or_empty(json, "method");
  summary.objective = number_or_zero(json, "objective");
  summary.iterations = static_cast<int>(count_or_zero(json, "iterations"));
  summary.seconds = number_or_zero(json, "seconds");
  summary.n = count_or_zero(json, "n");
  summary.d = count_or_zero(json, "d");
  summary.clusters = static_cast<int>(count_or_zero(json, "clusters"));
  const std::string termination = text_or_empty(json, "termination");
  for (Termination value :
       {Termination::Converged, Termination::IterationLimit, Termination::TimeLimit,
        Termination::Cancelled, Termination::NumericalIssue})
    if (termination == to_string(value)) summary.termination = value;
  return summary.brief();
}

void add_summary(const Json& json, Description& description) {
  description.add_line(summary_line(json));
  const auto metrics = json.find("metrics");
  if (metrics != json.end() && metrics->is_object())
    description.add("metrics", entries_of(*metrics));
}

}  // namespace

std::string describe_model(const std::string& path) {
  const ModelFile file = read_model_file(path);
  Description description(path, fmt::format("{} model", printable(file.kind)));
  description.add("format version", fmt::format("{}", file.format_version));
  description.add("written by", "Milieu " + printable(file.milieu_version));
  for (const auto& [name, array] : file.arrays)
    description.add("array " + printable(name), array.dtype + " " + shape_text(array.shape));
  for (const auto& [name, text] : file.scalars)
    description.add("scalar " + printable(name), printable(text, kMaxValueLength));
  if (!file.options_json.empty()) {
    const ParsedJson options = parse_json(file.options_json);
    description.add("options", options.problem.empty() && options.value.is_object()
                                   ? entries_of(options.value)
                                   : printable(file.options_json, kMaxValueLength));
  }
  return description.text();
}

std::string describe_run_folder(const std::string& path) {
  Description description(path, "run folder");
  add_summary(read_json_object((fs::path(path) / "summary.json").string()), description);
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(path))
    names.push_back(printable(entry.path().filename().string()));
  std::sort(names.begin(), names.end());
  description.add("files", printable_list(names));
  return description.text();
}

std::string describe_json(const std::string& path) {
  const Json json = read_json_object(path);
  if (is_summary(json)) {
    Description description(path, "summary of a run");
    add_summary(json, description);
    return description.text();
  }
  Description description(path, "JSON object");
  description.add_line(entries_of(json));
  return description.text();
}

}  // namespace milieu::internal

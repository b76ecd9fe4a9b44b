// SPDX-License-Identifier: Apache-2.0
#include "serve/run_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/dcp/dcp.h"
#include "milieu/store/model_file.h"
#include "serve/message.h"
#include "serve/run_files.h"

namespace milieu::serve {

namespace {

constexpr size_t kKeptResults = 6;

template <class T>
std::string raw_bytes(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<int32_t> narrow(const std::vector<int64_t>& rows) { return {rows.begin(), rows.end()}; }

// Rows by the names in labels.csv; they stand in the order of the set.
void read_labels(const RunRecord& record, const Collection& collection,
                 const std::vector<int64_t>& set, RunColumns& columns) {
  const auto lines = read_csv_rows(record.run_folder() + "/labels.csv");
  if (lines.size() != set.size()) return;  // labels of something else: groups, patches
  for (size_t i = 0; i < lines.size(); ++i) {
    int label = -1;
    const std::string& text = lines[i].back();
    std::from_chars(text.data(), text.data() + text.size(), label);
    if (lines[i].size() != 2 || lines[i][0] != collection.row_name(set[i]))
      throw DataError(kChangedCollection);
    columns.labels.push_back(label);
    columns.num_parts = std::max(columns.num_parts, label + 1);
  }
  columns.rows = narrow(set);
}

std::vector<float> to_float(const Matrix<double>& values) {
  return {values.data(), values.data() + values.size()};
}

// dcp's decision values; margins are those of the label that was given.
void add_decisions(const RunRecord& record, const Collection& collection,
                   const std::vector<int64_t>& set, const std::vector<int64_t>& context,
                   RunColumns& columns) {
  const std::string path = record.run_folder() + "/model.safetensors";
  if (record.method != "dcp" || !std::filesystem::exists(path)) return;
  const DcpModel model = load_model<DcpModel>(path);
  const Points& points = collection.data().points;
  if (model.kernel == "precomputed") return;
  const Matrix<double> values = decision_values(model, points.gather(set).view());
  const int k = static_cast<int>(values.cols());
  columns.num_parts = k;
  columns.decisions = to_float(values);
  if (!context.empty()) {
    columns.context_rows = narrow(context);
    columns.context_decisions = to_float(decision_values(model, points.gather(context).view()));
  }
  if (k < 2) return;
  for (int64_t i = 0; i < values.rows(); ++i) {
    const int label = columns.labels[static_cast<size_t>(i)];
    double other = -INFINITY;
    for (int c = 0; c < k; ++c)
      if (c != label) other = std::max(other, values(i, c));
    columns.margins.push_back(label < 0 ? 0 : static_cast<float>(values(i, label) - other));
  }
}

}  // namespace

std::optional<std::string> RunColumns::bytes(const std::string& name) const {
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

std::vector<std::string> RunColumns::names() const {
  std::vector<std::string> out;
  for (const char* name : {"rows", "labels", "margins", "decisions", "context_rows",
                           "context_decisions", "words", "places"})
    if (bytes(name)) out.emplace_back(name);
  return out;
}

std::vector<std::pair<std::string, double>> weights_of(std::string_view csv) {
  std::vector<std::pair<std::string, double>> weights;
  for (const auto& row : csv_rows(csv))
    if (row.size() >= 2) weights.emplace_back(row[0], std::strtod(row.back().c_str(), nullptr));
  std::stable_sort(weights.begin(), weights.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return weights;
}

RunResult read_run_result(const RunRecord& record, const Collection& collection) {
  const auto set_of = [&](const char* key, const std::vector<int64_t>& others) {
    return record.request.contains(key) && record.request[key].is_object()
               ? resolve_rows(record.request[key], collection, others, key)
               : std::vector<int64_t>();
  };
  RunResult result;
  const std::vector<int64_t> set = set_of("set", {});
  if (static_cast<int64_t>(set.size()) != record.n) throw DataError(kChangedCollection);
  if (record.method == "cac")
    result.words = read_cac_words(record, collection, set, result.columns);
  if (result.columns.labels.empty()) read_labels(record, collection, set, result.columns);
  if (record.method == "exemplar")
    result.weights = weights_of(read_text_file(record.run_folder() + "/weights.csv").value_or(""));
  if (result.columns.labels.empty()) return result;
  std::vector<int64_t> context;
  if (!record.ranks_contexts) {
    const std::vector<int64_t> named = set_of("context", set);
    std::set_difference(named.begin(), named.end(), set.begin(), set.end(),
                        std::back_inserter(context));
  }
  add_decisions(record, collection, set, context, result.columns);
  if (result.columns.margins.empty())
    result.columns.margins = mean_margins(collection.data().points.view(), result.columns.rows,
                                          result.columns.labels, result.columns.num_parts);
  for (const int32_t row : result.columns.rows)
    for (size_t axis = 0; axis < 2 && !collection.positions().empty(); ++axis)
      result.columns.places.push_back(collection.positions()[2 * static_cast<size_t>(row) + axis]);
  result.parts = describe_parts(result.columns, collection);
  return result;
}

std::shared_ptr<const RunResult> ResultCache::get(const RunRecord& record) {
  if (record.summary.is_null()) throw RequestError{409, "the run has no result"};
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, result] : kept_)
      if (id == record.id) return result;
  }
  auto result = std::make_shared<const RunResult>(read_run_result(record, collection_));
  const std::lock_guard lock(mutex_);
  kept_.emplace_back(record.id, result);
  if (kept_.size() > kKeptResults) kept_.erase(kept_.begin());
  return result;
}

void ResultCache::forget(const std::string& id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(kept_, [&](const auto& entry) { return entry.first == id; });
}

}  // namespace milieu::serve

// SPDX-License-Identifier: Apache-2.0
// What a finished run says about the rows of the collection: its columns, its parts.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "serve/collection.h"
#include "serve/runs.h"
#include "serve/words.h"

namespace milieu::serve {

inline constexpr const char* kChangedCollection =
    "the collection has changed since the run was made: start milieu explore again";

// One row of a column for each row that was split (context_*: of the context).
struct RunColumns {
  std::vector<int32_t> rows;  // of the collection, ascending
  std::vector<int32_t> labels;
  std::vector<float> margins;  // how surely a row belongs; larger is surer
  int num_parts = 0;
  std::vector<float> decisions;  // rows x num_parts; empty where the method has none
  std::vector<int32_t> context_rows;
  std::vector<float> context_decisions;  // context_rows x num_parts
  std::vector<int32_t> words;            // of cac, where rows are its samples
  std::vector<float> places;             // rows x 2, where rows have places

  // The bytes of a column as they are sent (little-endian); nothing when there is no such column.
  std::optional<std::string> bytes(const std::string& name) const;
  std::vector<std::string> names() const;  // of those that are not empty
};

struct PartInfo {
  int index = 0;
  std::vector<int64_t> members;  // places in the columns
  double mean_margin = 0;
  std::vector<int64_t> typical;  // rows of the collection, nearest to the mean first
  std::vector<int64_t> border;   // least sure first
  std::string apart;             // what sets it apart, as a sentence
  std::vector<std::pair<std::string, int64_t>> classes;  // most frequent first
};

struct RunResult {
  RunColumns columns;
  std::vector<PartInfo> parts;
  CacWords words;                                       // empty for other methods
  std::vector<std::pair<std::string, double>> weights;  // of a learned distance, largest first
};

// Reads a run folder against its collection. Throws DataError when the collection has changed since
// (another number of rows, other names).
RunResult read_run_result(const RunRecord& record, const Collection& collection);

// Candidates of a learned distance from the text of weights.csv (candidate, weight, share): their
// share in the mean distance, or the weight where there is no share; the largest first.
std::vector<std::pair<std::string, double>> weights_of(std::string_view csv);

// The parts of given columns.
std::vector<PartInfo> describe_parts(const RunColumns& columns, const Collection& collection);

// How much nearer each row is to its own part's mean than to the next one: margins for methods
// without decision values. `rows` are those of `points`, one label each.
std::vector<float> mean_margins(FloatView points, std::span<const int32_t> rows,
                                std::span<const int32_t> labels, int num_parts);

// Part[] of the page; names beyond `part_names` are "Part 3".
Json parts_to_json(const std::vector<PartInfo>& parts, const std::vector<std::string>& part_names);
std::string part_name(const std::vector<std::string>& part_names, int index);

// Keeps the results of the last few runs.
class ResultCache {
 public:
  explicit ResultCache(const Collection& collection) : collection_(collection) {}
  // RequestError 409 when the run has no result.
  std::shared_ptr<const RunResult> get(const RunRecord& record);
  void forget(const std::string& id);

 private:
  const Collection& collection_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::shared_ptr<const RunResult>>> kept_;  // newest last
};

}  // namespace milieu::serve

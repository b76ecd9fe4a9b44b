// SPDX-License-Identifier: Apache-2.0
// What a run says about the rows of a collection: its columns, its parts, its words. The report and
// the explorer show the same view, made from an outcome in memory or from a run folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/naming/part_names.h"
#include "milieu/report/collection.h"
#include "milieu/store/columns.h"

namespace MILIEU_API milieu {

// One row of a column per row that was split (context_*: of the context).
struct ViewColumns {
  std::vector<int32_t> rows;  // of the collection, ascending
  std::vector<int32_t> labels;
  std::vector<float> margins;  // how certain a row's label is; larger is more certain
  int num_parts = 0;
  std::vector<float> decisions;  // rows x num_parts; empty where the method has none
  std::vector<int32_t> context_rows;
  std::vector<float> context_decisions;  // context_rows x num_parts
  std::vector<int32_t> words;            // of cac, where rows are its samples
  std::vector<float> places;             // rows x 2, where rows have positions

  // The bytes of a column as they are sent (little-endian); nothing when there is no such column.
  std::optional<std::string> bytes(const std::string& name) const;
  std::vector<std::string> names() const;  // of those that are not empty
};

struct PartInfo {
  int index = 0;
  std::vector<int64_t> members;  // places in the columns
  double mean_margin = 0;
  std::vector<int64_t> typical;  // rows of the collection, nearest to the mean first
  std::vector<int64_t> border;   // least certain first
  std::string apart;             // what sets it apart, as a sentence
  std::vector<std::pair<std::string, int64_t>> classes;  // most frequent first
  PartNames names;  // labels that set it apart; empty without --describe
};

// A keypoint of an image; its position is in pixels of the image as cac read it.
struct ImageWord {
  float x = 0, y = 0;
  int32_t word = -1, phrase = -1;
};

// Rows that occur together.
struct NamedGroup {
  std::string name;
  int32_t phrase = -1;
  std::vector<int32_t> rows;  // of the collection
};

// What a run of cac says beside its labels.
struct WordView {
  std::map<int32_t, std::vector<ImageWord>> images;  // by row of the collection
  std::vector<NamedGroup> groups;
  std::vector<std::string> phrases;  // what each is made of, one line each

  bool empty() const { return images.empty() && groups.empty() && phrases.empty(); }
};

// One context of a ranking, the best first.
struct RankedContext {
  std::string name;
  int rank = 0;  // 1 is the best; 0: not ranked yet
  double match = 0, confidence = 0, consensus = 0, stability = 0;
  bool is_outlier_split = false;  // it finds a handful of outliers
  std::vector<int> labels;        // of the rows that were split
};

struct RunView {
  ViewColumns columns;
  std::vector<PartInfo> parts;
  WordView words;                                       // empty for other methods
  std::vector<std::pair<std::string, double>> weights;  // of a learned distance, largest first
  std::vector<RankedContext> contexts;                  // of a ranking
};

// A run folder on disk, with what the explorer asked for.
struct RunFolderView {
  std::string folder;            // the run folder
  std::string method;            // its name in the table
  std::vector<int64_t> rows;     // of the collection that were split, ascending
  std::vector<int64_t> context;  // rows of the collection that were the context; empty: none
};

inline constexpr const char* kChangedCollection =
    "the collection has changed since the run was made: start milieu explore again";

// Reads a run folder against its collection. Throws DataError when the collection has changed since
// (another number of rows, other names).
RunView read_run_view(const RunFolderView& run, const Collection& collection);

// The columns of a run folder that was written before there were any.
std::vector<Column> columns_of_old_run(const std::string& folder);

// Completes a view whose columns have rows and labels: margins where there are none, positions,
// parts.
void complete_view(RunView& view, const Collection& collection);

// Takes decision values and margins from the columns of a run; `rows` are the places in them of the
// view's rows, in their order.
void take_decisions(const std::vector<Column>& columns, std::span<const int64_t> rows,
                    ViewColumns& view);

// The ranking in the columns and names of a run; empty when it ranked nothing.
std::vector<RankedContext> ranked_contexts(const std::vector<Column>& columns,
                                           const std::string& summary_json);

// Candidates of a learned distance from the text of weights.csv (candidate, weight, share): their
// share in the mean distance, or the weight where there is no share; the largest first.
std::vector<std::pair<std::string, double>> weights_of(std::string_view csv);

// The parts of given columns.
std::vector<PartInfo> describe_parts(const ViewColumns& columns, const Collection& collection);

// How much nearer each row is to its own part's mean than to the next one: margins for methods
// without decision values. `rows` are those of `points`, one label each.
std::vector<float> mean_margins(FloatView points, std::span<const int32_t> rows,
                                std::span<const int32_t> labels, int num_parts);

// What a part is called: by hand (`part_names`), else by its labels, else "Part 3".
enum class NamedBy { Hand, Labels, Number };
NamedBy named_by(const std::vector<std::string>& part_names, const PartInfo& part);
std::string part_name(const std::vector<std::string>& part_names, const PartInfo& part);

// Gives the parts of a view their labels; there may be fewer or none.
void take_names(const std::vector<PartNames>& names, RunView& view);
// Those in the text of summary.json; empty where there are none.
std::vector<PartNames> names_of(const std::string& summary_json);

// Reads the words of a cac run. Where keypoints or groups were labelled, a row gets the phrase that
// most of its keypoints or groups have (the lowest of equals; -1 for none), and its margin is by
// how large a share of them that phrase leads. Where rows were, `columns` gets their words only.
// Throws DataError when an image is not in the set.
WordView read_words(const RunFolderView& run, const std::vector<Column>& columns,
                    const Collection& collection, ViewColumns& view);

}  // namespace milieu

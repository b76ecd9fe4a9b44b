// SPDX-License-Identifier: Apache-2.0
// The method behind `milieu cac`: which files it reads, how they become a CacInput, what it writes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "method.h"
#include "milieu/cac/cac.h"

namespace milieu::cli {

struct CacFiles {
  std::string view;  // one path a line
  std::string groups;
  std::string group_weights;
  std::string positions;
  std::string images;
  std::string initial_words;
  std::string initial_phrases;
  std::string word_truth;
  bool overlay = false;
};

template <class Visitor>
void visit_fields(CacFiles& o, Visitor&& v) {
  v("view", o.view, anything().repeated(),
    "a view of the samples in place of INPUT; give the flag once for each view");
  v("groups", o.groups, anything(),
    "file with the groups: row numbers of samples, one group a line, or a .mtx matrix");
  v("group_weights", o.group_weights, anything(), "file with the weight of every group");
  v("positions", o.positions, anything(),
    "file with the place of every row: its spatial neighbours make its group");
  v("images", o.images, anything(),
    "file with the image of every row: neighbours are looked for within one image");
  v("initial_words", o.initial_words, anything(),
    "file with the first word of every row (view after view): a single start from these");
  v("initial_phrases", o.initial_phrases, anything(),
    "file with the first phrase of every group, for --initial-words");
  v("word_truth", o.word_truth, anything(),
    "file with the true class of every row for the words (default: --truth, where it fits)");
  v("overlay", o.overlay, anything(),
    "for a folder of pictures: words and phrases drawn over each, in the run folder");
}

class CacMethod : public MethodWith<CacOptions, CacFiles> {
 public:
  std::vector<Preset> presets() override;
  bool takes_input() const override { return files_.view.empty(); }
  bool takes_features() const override { return files_.view.empty(); }
  std::optional<Dataset> load_own_input(const std::string& path, const LoadOptions& options,
                                        OwnInput& own) override;
  void load_files(RowFiles& rows) override;
  Labels load_truth(RowFiles& rows, const std::string& path) override;
  MethodResult fit(const Dataset& data, Monitor& monitor) override;

 private:
  bool has_own_groups() const { return !files_.groups.empty() && views_.size() <= 1; }
  Dataset join_views(const std::vector<std::string>& paths, const LoadOptions& options);
  void load_groups_of(RowFiles& rows);
  CacInput input_of(const Dataset& data) const;
  void add_overlays(const CacResult& result, MethodResult& out) const;
  void add_row_labels(const CacResult& result, const Dataset& data, MethodResult& out) const;
  void add_metrics(const CacResult& result, MethodResult& out) const;
  Dataset units_of(const Dataset& data) const;

  std::vector<Points> views_;  // empty: INPUT is the only one
  std::optional<ContextGroups> groups_;
  std::vector<std::string> group_names_;
  Points positions_;
  std::vector<int> images_;
  std::string folder_;                 // of the pictures that INPUT was; empty: a file
  int max_side_ = 0;                   // to which they were scaled down; 0: not
  std::vector<std::string> pictures_;  // in it
  std::vector<std::string> skipped_;   // those that cannot be read
  std::vector<int> initial_words_;
  std::vector<int> initial_phrases_;
  std::vector<int> word_truth_;    // of the kept rows; empty: unknown
  std::vector<int> phrase_truth_;  // of the labels; empty: unknown
};

// The curves of `auto` choices: value against agreement of the starts. Empty without a choice.
std::string stability_csv(const RunSummary& summary);
std::string stability_text(const RunSummary& summary);  // with bars, for people

// The phrase that most of a picture's keypoints, or most of a sample's groups, have; -1: there are
// none. For row_labels.csv, where labels are of something else than rows.
std::vector<int> phrases_of_pictures(const CacResult& result, std::span<const int> images,
                                     size_t num_pictures);
std::vector<int> phrases_of_members(const CacResult& result, const ContextGroups& groups);

// The tables of a run folder: words.csv, phrases.txt, steps.csv, with a choice stability.csv.
// `errors` have one entry a step, or none.
struct CacErrors {
  std::vector<double> phrases, words;
};
std::vector<ResultFile> cac_tables(const CacResult& result, const Dataset& data,
                                   const CacErrors& errors);

}  // namespace milieu::cli

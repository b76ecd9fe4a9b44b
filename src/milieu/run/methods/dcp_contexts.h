// SPDX-License-Identifier: Apache-2.0
// Ranking contexts: which candidates there are, what is kept of a stopped ranking, and how a
// ranking is shown.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "milieu/data/csv_text.h"
#include "milieu/dcp/dcp_rank.h"
#include "milieu/input/input.h"
#include "milieu/run/outcome.h"

namespace milieu {

// Candidates with the memory they live in.
struct ContextCandidates {
  std::vector<Dataset> data;
  std::vector<std::string> names;
  std::vector<DcpContext> views() const;
};

// The rows that are split: classes of INPUT, or row numbers.
struct SplitRows {
  std::string select;
  std::vector<int64_t> rows;
};

// Every file of a folder, by name; or each of the classes in `classes` (empty: all classes of INPUT
// but those that are split).
ContextCandidates candidates_from_folder(const std::string& folder, int num_threads);
ContextCandidates candidates_from_classes(const Input& input, const SplitRows& split,
                                          const std::string& classes);

// What the labels of a split must look like.
struct RankingShape {
  int64_t num_samples = 0;
  int num_parts = 0;
};

// Splits of an earlier ranking, kept in a file. It belongs to one input and one set of options:
// `key` is their fingerprint (data/identity/fingerprint.h).
class RankingState {
 public:
  // Reads the file if it exists. Throws InvalidArgument for another key, DataError for a file that
  // is not a ranking or is damaged, or one whose labels do not have this shape.
  RankingState(std::string path, std::string key, RankingShape shape);

  const DcpContextSplit* find(const std::string& name) const;
  void add(const DcpContextSplit& split);  // and writes the file
  size_t size() const { return splits_.size(); }

 private:
  void read(const std::string& text, const RankingShape& shape);
  void write() const;

  std::string path_;
  std::string key_;
  std::map<std::string, DcpContextSplit> splits_;
};

// The first cell of a row about sample i: called as in labels.csv.
void sample_cell(const Dataset& data, size_t i, CsvWriter& table);

// The ranking as a table for people, and as a file.
std::string ranking_text(const DcpRanking& ranking);
std::string ranking_csv(const DcpRanking& ranking);
// The entries it adds to a summary.
void add_ranking(const DcpRanking& ranking, size_t num_candidates, RunSummary& summary);
// Labels and margins become those of the vote over all contexts (dcp/dcp_vote.h), votes.csv takes
// the place of the decision values. The model stays that of the first context.
void add_vote(const DcpRanking& ranking, const Dataset& data, int num_parts, RunOutcome& out);

}  // namespace milieu

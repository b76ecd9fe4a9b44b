// SPDX-License-Identifier: Apache-2.0
// Ranking contexts: which candidates there are, what is kept of a stopped ranking, and how a
// ranking is shown.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/csv_text.h"
#include "milieu/data/file/journal.h"
#include "milieu/dcp/dcp_rank.h"
#include "milieu/input/input.h"
#include "milieu/run/outcome.h"

namespace MILIEU_API milieu {

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

// Splits by name.
using KnownSplits = std::map<std::string, DcpContextSplit>;

// The splits that were kept in `path` (data/file/journal.h), added to `known`; then those that are
// kept from now on. They belong to one input and one set of options: `key` is their fingerprint.
class RankingState {
 public:
  // Throws InvalidArgument for another key, DataError for a file that is not a ranking or is
  // damaged, or one whose labels do not have this shape.
  RankingState(const std::string& path, const std::string& key, const RankingShape& shape,
               KnownSplits& known);

  void open() { journal_.open(); }
  // The cost does not depend on how many there are.
  void keep(const DcpContextSplit& split);

 private:
  Journal journal_;
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

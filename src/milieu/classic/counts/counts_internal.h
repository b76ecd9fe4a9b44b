// SPDX-License-Identifier: Apache-2.0
// What the methods that cluster counts (bags, jsom, multinomials, topics) share.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "milieu/base/job/restart_range.h"
#include "milieu/base/monitor.h"
#include "milieu/base/ranks/rows.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// The counts of this rank's own rows.
struct CountRows {
  // All rows are here.
  CountRows(FloatView counts) : CountRows(counts, nullptr, 1) {}
  // `given` is null where all rows are here.
  CountRows(FloatView counts, const Rows* given, int64_t block_rows)
      : own(counts), rows(given ? *given : Rows(counts.rows(), block_rows)) {}

  FloatView own;
  Rows rows;
};

// Throws InvalidArgument for empty counts, DataError for counts that are negative, not finite or,
// where `is_whole` asks for it, not whole.
void check_counts(const CountRows& counts, bool is_whole = false);

// Throws InvalidArgument unless there are at least as many rows as clusters.
void check_num_clusters(int num_clusters, int64_t num_rows);

// Throws InvalidArgument unless `num_topics` distributions over the words, the statistics that
// blocks of rows add up side by side, and the shares of every row fit into memory.
void check_topics_memory(int num_topics, FloatView counts, int64_t num_rows);

// Throws InvalidArgument unless new counts have the words of training.
void check_num_words(FloatView counts, int64_t num_words);

// Adds a warning where counts look like shares of words: all at most 1, some of them not whole.
void warn_of_shares(const CountRows& counts, RunSummary& summary);

// The column of the largest entry of each row; ties go to the lowest index.
std::vector<int> strongest_columns(DoubleView shares);

// Square roots of the frequencies in each row; a row without words is zero.
Matrix<float> root_frequencies(FloatView counts);

// The course of one restart.
struct CountsTrace {
  std::vector<double> trace;  // objective after each iteration
  double objective = -INFINITY;
  Termination termination = Termination::IterationLimit;
};

template <class Model>
struct CountsRun : CountsTrace {
  Model model;
  Matrix<double> rows;  // n x parts: what each row has of each part after the last pass
};

// After a stop rows are inferred for this long: a label is that of the model, or there is none.
inline constexpr double kGraceSeconds = 0.1;
// Labels after a stop. Rows of `shares` that are zero were not reached: they take those of the last
// pass, and the label -1.
std::vector<int> reached_labels(Matrix<double>& shares, const Matrix<double>& last);

// Rows that sum to 1; rows of zeros, which no pass has reached, become equal shares.
Matrix<double> row_shares(Matrix<double> rows);

// The restart of the range with the highest objective; the first of equals. `run_restart(restart)`
// runs one.
template <class RunRestart>
auto best_restart(const RestartRange& range, int num_restarts, const RunRestart& run_restart,
                  const Rows& rows, RunSummary& summary, Monitor& monitor) {
  decltype(run_restart(0)) best;
  for (int restart = range.first; restart < range.end(num_restarts); ++restart) {
    const bool is_first = restart == range.first;
    if (!is_first && rows.any(monitor.should_stop())) break;
    auto run = run_restart(restart);
    summary.num_restarts = restart - range.first + 1;
    if (!is_first && !is_better(RestartChoice::HighestObjective, run.objective, best.objective))
      continue;
    best = std::move(run);
    summary.restart = restart;
  }
  const StopReason reason = rows.agree(monitor.stop_reason());
  if (reason != StopReason::None) best.termination = termination_from(reason);
  return best;
}

// What a summary says about any of these methods. `objective_name` is what rises ("bound"), and
// `num_clusters` `parts` ("clusters") were requested; `if_empty` says what one without rows is.
void describe_counts_run(const CountsTrace& run, const CountRows& counts,
                         const std::vector<int>& labels, int num_clusters, int max_iterations,
                         std::string_view objective_name, std::string_view parts,
                         std::string_view if_empty, RunSummary& summary);

}  // namespace milieu::internal

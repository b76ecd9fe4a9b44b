// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/memory.h"
#include "milieu/base/parallel.h"
#include "milieu/classic/counts/counts_internal.h"
#include "milieu/neighbors/check_points.h"

namespace milieu::internal {

void check_counts(const CountRows& counts, bool is_whole) {
  check_points(counts.own, counts.rows, "counts");
  for (int64_t d = 0; d < counts.own.rows(); ++d)
    for (int64_t v = 0; v < counts.own.cols(); ++v) {
      const float n = counts.own(d, v);
      if (n < 0)
        throw DataError(fmt::format("counts has {} at row {}, column {}, must be at least 0", n,
                                    counts.rows.begin() + d, v));
      if (is_whole && (n != std::floor(n) || n > 1e9f))
        throw DataError(
            fmt::format("counts has {} at row {}, column {}: Gibbs sampling needs whole counts; "
                        "use inference variational",
                        n, counts.rows.begin() + d, v));
    }
}

void check_num_clusters(int num_clusters, int64_t num_rows) {
  require(num_clusters <= num_rows, [&] {
    return fmt::format("num_clusters is {}, there are only {}: use at most {}", num_clusters,
                       counted(num_rows, "sample"), num_rows);
  });
}

void check_num_words(FloatView counts, int64_t num_words) {
  require(counts.cols() == num_words, [&] {
    return fmt::format("counts have {}, the model was fitted on {}",
                       counted(counts.cols(), "column"), num_words);
  });
}

void warn_of_shares(const CountRows& counts, RunSummary& summary) {
  bool is_share = false, is_count = false;
  for (int64_t d = 0; d < counts.own.rows() && !is_count; ++d)
    for (const float n : counts.own.row_span(d)) {
      is_count = is_count || n > 1;
      is_share = is_share || (n > 0 && n < 1);
    }
  is_count = counts.rows.any(is_count);
  if (counts.rows.any(is_share) && !is_count)
    summary.warnings.emplace_back(
        "counts are fractions of at most 1, so each row weighs as little as one word: give raw "
        "word counts (for image features: norm=none)");
}

std::vector<int> strongest_columns(DoubleView shares) {
  std::vector<int> labels(shares.rows());
  for (int64_t d = 0; d < shares.rows(); ++d) {
    const std::span<const double> row = shares.row_span(d);
    labels[d] = static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin());
  }
  return labels;
}

void check_topics_memory(int num_topics, FloatView counts, int64_t num_rows) {
  const double topics = num_topics, words = static_cast<double>(counts.cols());
  constexpr int64_t kRowsPerBlock = 32;
  const auto copies = static_cast<double>(2 + reduction_copies(num_rows, kRowsPerBlock, 0));
  require_memory(
      {8 * topics * (copies * words + 3 * static_cast<double>(counts.rows())),
       fmt::format("{} topics of {} words for {} rows", num_topics, counts.cols(), num_rows),
       "use fewer topics"});
}

std::vector<int> reached_labels(Matrix<double>& shares, const Matrix<double>& last) {
  std::vector<int> labels = strongest_columns(shares);
  for (int64_t d = 0; d < shares.rows(); ++d) {
    const auto row = shares.row_span(d);
    if (std::ranges::any_of(row, [](double share) { return share > 0; })) continue;
    labels[static_cast<size_t>(d)] = -1;
    std::ranges::copy(last.row_span(d), row.begin());
  }
  return labels;
}

Matrix<double> row_shares(Matrix<double> rows) {
  for (int64_t d = 0; d < rows.rows(); ++d) {
    double sum = 0;
    for (const double x : rows.row_span(d)) sum += x;
    for (double& x : rows.row_span(d)) x = sum > 0 ? x / sum : 1 / static_cast<double>(rows.cols());
  }
  return rows;
}

Matrix<float> root_frequencies(FloatView counts) {
  Matrix<float> roots(counts.rows(), counts.cols());
  for (int64_t d = 0; d < counts.rows(); ++d) {
    double total = 0;
    for (const float n : counts.row_span(d)) total += static_cast<double>(n);
    if (total <= 0) continue;
    for (int64_t v = 0; v < counts.cols(); ++v)
      roots(d, v) = static_cast<float>(std::sqrt(static_cast<double>(counts(d, v)) / total));
  }
  return roots;
}

void describe_counts_run(const CountsTrace& run, const CountRows& counts,
                         const std::vector<int>& labels, int num_clusters, int max_iterations,
                         std::string_view objective_name, std::string_view parts,
                         std::string_view if_empty, RunSummary& summary) {
  summary.version = version();
  summary.termination = run.termination;
  summary.message =
      run.termination == Termination::Converged
          ? fmt::format("the {} rises by less than rel_tolerance", objective_name)
      : run.termination == Termination::IterationLimit
          ? fmt::format("max_iterations = {} was reached before rel_tolerance: raise either",
                        max_iterations)
          : "stopped early: the model is the best complete one";
  summary.objective = run.trace.empty() ? 0 : run.objective;
  summary.trace = run.trace;
  summary.iterations = static_cast<int>(run.trace.size());
  summary.n = counts.rows.size();
  summary.d = counts.own.cols();
  set_sizes(summary, counts.rows, labels, num_clusters);
  warn_of_shares(counts, summary);
  const int num_empty = num_clusters - summary.clusters;
  if (num_empty > 0)
    summary.warnings.push_back(fmt::format("{} of {} {} {} {}: use a smaller num_clusters",
                                           num_empty, num_clusters, parts,
                                           by_number(num_empty, "is", "are"), if_empty));
}

}  // namespace milieu::internal

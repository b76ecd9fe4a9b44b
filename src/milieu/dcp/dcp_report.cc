// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/counted.h"
#include "milieu/dcp/dcp_report_internal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_set>

namespace milieu::internal {
namespace {

// A part below this fraction of its even share: the split only detects outliers.
constexpr double kOutlierShare = 0.1;
constexpr double kDoubtful = 0.7;  // confidence below which a split is called unclear

bool is_stopped(const RunSummary& summary) {
  return summary.termination == Termination::Cancelled ||
         summary.termination == Termination::TimeLimit;
}

// Samples of each part, and of the context, on the wrong side of the part's plane.
struct WrongSide {
  std::vector<int64_t> samples, context;
};

WrongSide count_wrong_side(const DcpInput& input, const DcpOptions& options,
                           const DcpResult& result) {
  WrongSide wrong{std::vector<int64_t>(options.num_clusters),
                  std::vector<int64_t>(options.num_clusters)};
  for (size_t i = 0; i < result.labels.size(); ++i)
    if (result.decisions(static_cast<int64_t>(i), result.labels[i]) <= 0)
      ++wrong.samples[result.labels[i]];
  const Matrix<double> values = decision_values(result.model, input.context, options.num_threads);
  for (int64_t i = 0; i < values.rows(); ++i)
    for (int k = 0; k < options.num_clusters; ++k)
      if (values(i, k) >= 0) ++wrong.context[k];
  return wrong;
}

// How many samples are, number by number, also in the context.
int64_t count_overlap(const DcpInput& input) {
  const size_t bytes = static_cast<size_t>(input.points.cols()) * sizeof(float);
  const auto key = [&](const float* row) {
    return std::string(reinterpret_cast<const char*>(row), bytes);
  };
  // Sums of the rows first: only rows whose sum occurs on both sides are compared.
  const auto sum = [&](const float* row) {
    double total = 0;
    for (int64_t j = 0; j < input.points.cols(); ++j) total += row[j] * static_cast<double>(j + 1);
    return total;
  };
  std::unordered_set<double> sums;
  for (int64_t i = 0; i < input.context.rows(); ++i) sums.insert(sum(input.context.row(i)));
  std::vector<int64_t> suspects;
  std::unordered_set<double> suspect_sums;
  for (int64_t i = 0; i < input.points.rows(); ++i)
    if (const double s = sum(input.points.row(i)); sums.contains(s)) {
      suspects.push_back(i);
      suspect_sums.insert(s);
    }
  if (suspects.empty()) return 0;
  std::unordered_set<std::string> rows;
  for (int64_t i = 0; i < input.context.rows(); ++i)
    if (suspect_sums.contains(sum(input.context.row(i)))) rows.insert(key(input.context.row(i)));
  return std::count_if(suspects.begin(), suspects.end(),
                       [&](int64_t i) { return rows.contains(key(input.points.row(i))); });
}

void warn_about_sizes(const DcpOptions& options, RunSummary& summary) {
  const int num_empty = static_cast<int>(summary.sizes.size()) - summary.clusters;
  if (num_empty > 0)
    summary.warnings.push_back(
        fmt::format("{} of {} parts {} empty: this context supports no more than {}", num_empty,
                    options.num_clusters, by_number(num_empty, "is", "are"), summary.clusters));
  const int64_t smallest = *std::min_element(summary.sizes.begin(), summary.sizes.end());
  if (smallest > 0 && smallest < options.min_part)
    summary.warnings.push_back(
        fmt::format("the smallest part has {}, min_part is {}: no restart met it",
                    counted(smallest, "sample"), options.min_part));
  const double even = static_cast<double>(summary.n) / options.num_clusters;
  if (smallest > 0 && static_cast<double>(smallest) < kOutlierShare * even)
    summary.warnings.push_back(fmt::format(
        "the smallest part has {} of {} samples: a split this unbalanced only detects outliers",
        smallest, summary.n));
}

void warn_about_context(const DcpInput& input, const DcpOptions& options, const DcpResult& result,
                        const WrongSide& wrong, RunSummary& summary) {
  const int64_t overlap = options.kernel == DcpKernel::Precomputed ? 0 : count_overlap(input);
  if (overlap > 0)
    summary.warnings.push_back(
        fmt::format("{} of {} samples {} also in the context and cannot be separated from it",
                    overlap, input.points.rows(), by_number(overlap, "is", "are")));
  if (is_stopped(summary)) return;
  if (options.num_clusters > 1 && result.floor < 0 && result.gain <= 0)
    summary.warnings.push_back(
        fmt::format("gain is {:.3g}: this context does not support a split into {}", result.gain,
                    counted(options.num_clusters, "part")));
  if (options.num_clusters > 1 && result.floor >= 0 && result.confidence < kDoubtful)
    summary.warnings.push_back(
        fmt::format("confidence is {:.2f}: the samples show no clear split against this context; "
                    "try another one, or several together",
                    result.confidence));
  if (result.floor >= 0) return;  // at a small cost planes are directions, not borders
  std::vector<std::string> inseparable;
  for (int k = 0; k < options.num_clusters; ++k)
    if (wrong.samples[k] + wrong.context[k] > 0)
      inseparable.push_back(fmt::format("part {} ({} and {} of the context)", k,
                                        counted(wrong.samples[k], "sample"), wrong.context[k]));
  if (!inseparable.empty())
    summary.warnings.push_back(
        fmt::format("not separable from the context, samples on the wrong side: {}; a larger cost "
                    "only charges them more, it does not approach a hard margin",
                    fmt::join(inseparable, ", ")));
}

std::string message_of(const RunSummary& summary) {
  switch (summary.termination) {
    case Termination::Converged:
      return "neither a new split nor new planes lower the objective";
    case Termination::IterationLimit:
      return "the split was still changing when the maximum number of rounds was reached; the "
             "result is the last one";
    default:
      return "stopped early: the result is the best split so far";
  }
}

}  // namespace

void fill_decisions(const DcpInput& input, const DcpOptions& options, bool labels_follow,
                    DcpResult& result) {
  const Matrix<double> values = decision_values(result.model, input.points, options.num_threads);
  result.decisions = Matrix<float>(values.rows(), values.cols());
  result.margins.resize(values.rows());
  result.labels.resize(values.rows());
  for (int64_t i = 0; i < values.rows(); ++i) {
    const auto f = values.row_span(i);
    const int best = static_cast<int>(std::max_element(f.begin(), f.end()) - f.begin());
    if (labels_follow) result.labels[i] = best;
    const int own = result.labels[i];
    double other = -std::numeric_limits<double>::infinity();
    for (int k = 0; k < values.cols(); ++k) {
      result.decisions(i, k) = static_cast<float>(f[k]);
      if (k != own) other = std::max(other, f[k]);
    }
    // A single part is separated from the context only.
    result.margins[i] = static_cast<float>(values.cols() > 1 ? f[own] - other : f[own]);
  }
}

void summarise(const DcpInput& input, const DcpOptions& options, const Constraints& constraints,
               int64_t num_evaluations, DcpResult& result) {
  RunSummary& summary = result.summary;
  summary.method = DcpModel::kKind;
  summary.version = version();
  summary.seed = options.seed;
  summary.n = input.points.rows();
  summary.d = input.points.cols();
  set_sizes(summary, result.labels, options.num_clusters);
  summary.message = message_of(summary);
  const bool has_samples = result.model.coefficients.rows() == options.num_clusters &&
                           result.decisions.rows() == summary.n;
  WrongSide wrong{std::vector<int64_t>(options.num_clusters),
                  std::vector<int64_t>(options.num_clusters)};
  if (has_samples && !is_stopped(summary)) wrong = count_wrong_side(input, options, result);
  warn_about_sizes(options, summary);
  warn_about_context(input, options, result, wrong, summary);
  if (!constraints.is_exact())
    summary.warnings.push_back(
        "the assignment under constraints was cut short after a number of trials: a better split "
        "may exist");
  summary.extra = {{"confidence", result.confidence},
                   {"separation", result.separation},
                   {"whitening_floor", result.floor},
                   {"joint_objective", result.joint_objective},
                   {"empty_objective", result.empty_objective},
                   {"gap", result.gap},
                   {"agreement", result.agreement},
                   {"evaluations", num_evaluations},
                   {"num_context", input.context.rows()},
                   {"wrong_side_samples", wrong.samples},
                   {"wrong_side_context", wrong.context},
                   {"restart_objectives", result.restart_objectives}};
  // With whitening and a small cost the gain says nothing.
  if (result.floor < 0) summary.extra.insert(summary.extra.begin() + 3, {"gain", result.gain});
}

}  // namespace milieu::internal

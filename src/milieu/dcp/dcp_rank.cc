// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/dcp_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <tuple>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/dcp/dcp_constraints_internal.h"
#include "milieu/dcp/rank/dcp_consensus_internal.h"
#include "milieu/metrics/metrics.h"

namespace milieu {
namespace {

constexpr double kOutlierShare = 0.1;  // of an even share: a smaller part is a handful of outliers

std::vector<int64_t> draw_half(int64_t n, Random& random) {
  std::vector<int64_t> rows = random.sample_without_replacement(n, (n + 1) / 2);
  std::sort(rows.begin(), rows.end());
  return rows;
}

Matrix<float> take(FloatView points, const std::vector<int64_t>& rows) {
  Matrix<float> taken(std::ssize(rows), points.cols());
  for (int64_t i = 0; i < taken.rows(); ++i)
    std::copy_n(points.row(rows[i]), points.cols(), taken.row(i));
  return taken;
}

Matrix<float> take_columns(FloatView points, const std::vector<int64_t>& columns) {
  Matrix<float> taken(points.rows(), std::ssize(columns));
  for (int64_t i = 0; i < taken.rows(); ++i)
    for (int64_t j = 0; j < taken.cols(); ++j) taken(i, j) = points(i, columns[j]);
  return taken;
}

template <class Value>
std::vector<Value> take(std::span<const Value> values, const std::vector<int64_t>& rows) {
  std::vector<Value> taken;
  for (size_t i = 0; i < rows.size() && !values.empty(); ++i) taken.push_back(values[rows[i]]);
  return taken;
}

// Links whose samples are both among the rows, by their new numbers.
std::vector<DcpLink> take_links(std::span<const DcpLink> links, const std::vector<int64_t>& rows) {
  const auto number_of = [&](int64_t row) {
    const auto found = std::ranges::lower_bound(rows, row);
    return found != rows.end() && *found == row ? found - rows.begin() : -1;
  };
  std::vector<DcpLink> taken;
  for (const DcpLink& link : links)
    if (number_of(link.first) >= 0 && number_of(link.second) >= 0)
      taken.push_back({number_of(link.first), number_of(link.second)});
  return taken;
}

// The limits of part sizes for a part of the samples: the same shares, rounded outwards. Together
// with other constraints they might be impossible there, and are left out.
std::string sizes_for(const DcpInput& input, const DcpOptions& options, int64_t count) {
  if (options.sizes.empty() || !input.memberships.empty() || !input.must_links.empty() ||
      !input.cannot_links.empty())
    return "";
  const int64_t n = input.points.rows();
  const internal::SizeLimits limits = internal::parse_sizes(options.sizes, options.num_clusters, n);
  std::string text;
  for (size_t k = 0; k < limits.least.size(); ++k)
    text += fmt::format("{}{}-{}", k == 0 ? "" : ",", limits.least[k] * count / n,
                        (limits.most[k] * count + n - 1) / n);
  return text;
}

// How much of the split comes back from half of the samples and half of the context.
double measure_stability(const DcpInput& input, const std::vector<int>& labels, DcpOptions options,
                         Monitor& monitor) {
  Random random = Random(options.seed).child(2000000);
  const int64_t n = input.points.rows();
  const std::vector<int64_t> rows = draw_half(n, random);
  const std::vector<int64_t> others = draw_half(input.context.rows(), random);
  Matrix<float> points = take(input.points, rows), context = take(input.context, others), all;
  if (options.kernel == DcpKernel::Precomputed) {
    std::vector<int64_t> columns = rows;
    for (const int64_t j : others) columns.push_back(n + j);
    points = take_columns(points, columns);
    context = take_columns(context, columns);
    all = take_columns(input.points, columns);
  }
  const std::vector<double> weights = take(input.weights, rows);
  const std::vector<int> memberships = take(input.memberships, rows);
  const std::vector<DcpLink> must_links = take_links(input.must_links, rows);
  const std::vector<DcpLink> cannot_links = take_links(input.cannot_links, rows);
  options.num_restarts = (options.num_restarts + 1) / 2;
  options.sizes =
      options.num_clusters <= points.rows() ? sizes_for(input, options, points.rows()) : "";
  options.num_clusters = static_cast<int>(std::min<int64_t>(options.num_clusters, points.rows()));
  const DcpInput half{points, context, weights, {}, {}, memberships, must_links, cannot_links};
  const DcpModel model = fit_dcp(half, options, monitor).model;
  const FloatView seen = all.empty() ? input.points : all.view();
  return compute_metrics(predict(model, seen, options.num_threads), labels).ari;
}

DcpContextSplit run_context(DcpInput input, const DcpContext& context, const DcpOptions& options,
                            Monitor& monitor, std::optional<DcpResult>& kept) {
  const Stopwatch watch;
  input.context = context.points;
  if (options.kernel == DcpKernel::Precomputed) input.points = context.samples;
  DcpResult result = fit_dcp(input, options, monitor);
  DcpContextSplit split{context.name,
                        result.labels,
                        result.summary.objective,
                        result.separation,
                        result.confidence,
                        result.agreement,
                        0,
                        0};
  if (!monitor.should_stop())
    split.stability = measure_stability(input, split.labels, options, monitor);
  split.seconds = watch.seconds();
  kept = std::move(result);
  return split;
}

bool is_outlier_split(const std::vector<int>& labels, const DcpOptions& options) {
  if (!options.sizes.empty()) return false;
  std::vector<int64_t> sizes(static_cast<size_t>(options.num_clusters));
  for (const int label : labels) ++sizes[static_cast<size_t>(label)];
  const double even =
      static_cast<double>(labels.size()) / static_cast<double>(options.num_clusters);
  const auto smallest = static_cast<double>(*std::ranges::min_element(sizes));
  return smallest < std::max(kOutlierShare, options.min_share) * even;
}

// The clearest split so far that has parts, and its full result: the one that ends up first in the
// ranking. The others are forgotten, so that memory does not grow with them.
class FirstResult {
 public:
  explicit FirstResult(const DcpOptions& options) : options_(options) {}

  // Ties go to the first candidate, in whatever order they are offered.
  void offer(int64_t index, const DcpContextSplit& split, std::optional<DcpResult> result) {
    const std::tuple rank(!is_outlier_split(split.labels, options_), split.separation, -index);
    if (index_ >= 0 && rank < rank_) return;
    rank_ = rank;
    index_ = index;
    result_ = std::move(result);
  }
  std::optional<DcpResult> take() { return std::move(result_); }

 private:
  const DcpOptions& options_;
  int64_t index_ = -1;
  std::tuple<bool, double, int64_t> rank_;
  std::optional<DcpResult> result_;
};

std::vector<DcpContextSplit> run_splits(const DcpInput& input, std::span<const DcpContext> contexts,
                                        const DcpOptions& options, Monitor& monitor,
                                        const DcpRankHooks& hooks, FirstResult& first) {
  require(input.context.empty() && input.context_weights.empty(),
          "a ranking tries one context after the other: leave context and context_weights out");
  require(input.initial_labels.empty(),
          "a ranking chooses its own starts: leave initial_labels out");
  DcpOptions single = options;
  single.num_threads = 1;  // contexts share the threads
  std::vector<DcpContextSplit> splits(contexts.size());
  std::mutex mutex;
  int64_t done = 0;
  parallel_for(
      static_cast<int64_t>(contexts.size()), 1, options.num_threads, [&](const Block& block) {
        if (monitor.should_stop()) return;
        const DcpContext& context = contexts[block.index];
        const DcpContextSplit* known = hooks.find_known ? hooks.find_known(context.name) : nullptr;
        Monitor quiet(monitor);  // stops as well, reports nothing
        std::optional<DcpResult> result;
        DcpContextSplit split =
            known != nullptr ? *known : run_context(input, context, single, quiet, result);
        if (monitor.should_stop() && known == nullptr) return;
        const std::scoped_lock lock(mutex);
        splits[block.index] = std::move(split);
        first.offer(block.index, splits[block.index], std::move(result));
        if (hooks.on_split && known == nullptr) hooks.on_split(splits[block.index]);
        monitor.on_progress("contexts", ++done, static_cast<int64_t>(contexts.size()));
      });
  return splits;
}

void set_figures(const DcpOptions& options, std::vector<DcpRankedContext>& contexts) {
  std::vector<std::span<const int>> splits;
  for (const DcpRankedContext& one : contexts) splits.push_back(one.split.labels);
  const std::vector<double> consensus = internal::mean_agreement(
      splits, options.num_clusters, kMostComparedSplits, options.num_threads);
  for (size_t c = 0; c < contexts.size(); ++c) {
    contexts[c].consensus = consensus[c];
    contexts[c].is_outlier_split = is_outlier_split(contexts[c].split.labels, options);
  }
}

// The clearest split that has parts is what the others are compared with.
void set_match(const DcpOptions& options, std::vector<DcpRankedContext>& contexts) {
  const auto best = std::ranges::max_element(contexts, {}, [](const DcpRankedContext& one) {
    return std::pair(!one.is_outlier_split, one.split.separation);
  });
  if (best == contexts.end()) return;
  const std::vector<int> reference = best->split.labels;
  for (DcpRankedContext& one : contexts)
    one.match = internal::agreement(one.split.labels, reference, options.num_clusters);
}

}  // namespace

std::vector<DcpContextSplit> split_by_contexts(const DcpInput& input,
                                               std::span<const DcpContext> contexts,
                                               const DcpOptions& options, Monitor& monitor,
                                               const DcpRankHooks& hooks) {
  FirstResult unused(options);
  return run_splits(input, contexts, options, monitor, hooks, unused);
}

DcpRanking rank_contexts(const DcpInput& input, const std::vector<DcpContext>& contexts,
                         const DcpOptions& options, Monitor& monitor, const DcpRankHooks& hooks) {
  require(!contexts.empty(), "there are no contexts to rank: give at least one");
  FirstResult first(options);
  std::vector<DcpContextSplit> splits = run_splits(input, contexts, options, monitor, hooks, first);
  DcpRanking ranking;
  if (monitor.should_stop()) ranking.termination = termination_from(monitor.stop_reason());
  for (DcpContextSplit& split : splits)
    if (!split.labels.empty()) ranking.contexts.push_back({std::move(split), 0, 0, false});
  set_figures(options, ranking.contexts);
  set_match(options, ranking.contexts);
  std::stable_sort(ranking.contexts.begin(), ranking.contexts.end(),
                   [](const DcpRankedContext& a, const DcpRankedContext& b) {
                     if (a.is_outlier_split != b.is_outlier_split) return b.is_outlier_split;
                     if (a.match != b.match) return a.match > b.match;
                     return a.split.separation > b.split.separation;
                   });
  ranking.first_result = first.take();
  return ranking;
}

}  // namespace milieu

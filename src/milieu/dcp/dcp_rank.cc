// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/dcp_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/metrics/metrics.h"

namespace milieu {
namespace {

Matrix<float> draw_half(FloatView points, Random& random) {
  const int64_t count = (points.rows() + 1) / 2;
  std::vector<int64_t> rows = random.sample_without_replacement(points.rows(), count);
  std::sort(rows.begin(), rows.end());
  Matrix<float> half(count, points.cols());
  for (int64_t i = 0; i < count; ++i) std::copy_n(points.row(rows[i]), points.cols(), half.row(i));
  return half;
}

// How much of the split comes back from half of the samples and half of the context.
double measure_stability(FloatView points, FloatView context, const std::vector<int>& labels,
                         DcpOptions options, Monitor& monitor) {
  Random random = Random(options.seed).child(2000000);
  const Matrix<float> half = draw_half(points, random), half_context = draw_half(context, random);
  options.num_restarts = (options.num_restarts + 1) / 2;
  options.num_clusters = static_cast<int>(std::min<int64_t>(options.num_clusters, half.rows()));
  DcpInput input;
  input.points = half;
  input.context = half_context;
  const DcpModel model = fit_dcp(input, options, monitor).model;
  return compute_metrics(predict(model, points, options.num_threads), labels).ari;
}

DcpContextSplit run_context(FloatView points, const DcpContext& context, const DcpOptions& options,
                            Monitor& monitor, std::optional<DcpResult>& kept) {
  const Stopwatch watch;
  DcpInput input;
  input.points = points;
  input.context = context.points;
  DcpResult result = fit_dcp(input, options, monitor);
  DcpContextSplit split{context.name,
                        result.labels,
                        result.summary.objective,
                        result.separation,
                        result.confidence,
                        result.agreement,
                        0,
                        0};
  if (!monitor.should_stop() && options.kernel != DcpKernel::Precomputed)
    split.stability = measure_stability(points, context.points, split.labels, options, monitor);
  split.seconds = watch.seconds();
  kept = std::move(result);
  return split;
}

void set_consensus(std::vector<DcpRankedContext>& contexts) {
  for (DcpRankedContext& one : contexts) {
    double sum = 0;
    for (const DcpRankedContext& other : contexts)
      if (&one != &other) sum += compute_metrics(one.split.labels, other.split.labels).ari;
    if (contexts.size() > 1) one.consensus = sum / static_cast<double>(contexts.size() - 1);
  }
}

void set_match(std::vector<DcpRankedContext>& contexts) {
  const auto best = std::ranges::max_element(
      contexts, {}, [](const DcpRankedContext& one) { return one.split.separation; });
  if (best == contexts.end()) return;
  const std::vector<int> reference = best->split.labels;
  for (DcpRankedContext& one : contexts)
    one.match = compute_metrics(one.split.labels, reference).ari;
}

}  // namespace

DcpRanking rank_contexts(FloatView points, const std::vector<DcpContext>& contexts,
                         const DcpOptions& options, Monitor& monitor, const DcpRankHooks& hooks) {
  require(!contexts.empty(), "there are no contexts to rank: give at least one");
  require(options.kernel != DcpKernel::Precomputed,
          "kernel is precomputed: contexts cannot be ranked with a given matrix of similarities");
  DcpOptions single = options;
  single.num_threads = 1;  // contexts share the threads
  std::vector<DcpContextSplit> splits(contexts.size());
  std::vector<std::optional<DcpResult>> results(contexts.size());
  std::mutex mutex;
  int64_t done = 0;
  parallel_for(
      static_cast<int64_t>(contexts.size()), 1, options.num_threads, [&](const Block& block) {
        if (monitor.should_stop()) return;
        const DcpContext& context = contexts[block.index];
        const DcpContextSplit* known = hooks.find_known ? hooks.find_known(context.name) : nullptr;
        Monitor quiet(monitor);  // stops as well, reports nothing
        DcpContextSplit split =
            known != nullptr ? *known
                             : run_context(points, context, single, quiet, results[block.index]);
        if (monitor.should_stop() && known == nullptr) return;
        const std::scoped_lock lock(mutex);
        splits[block.index] = std::move(split);
        if (hooks.on_split && known == nullptr) hooks.on_split(splits[block.index]);
        monitor.on_progress("contexts", ++done, static_cast<int64_t>(contexts.size()));
      });
  DcpRanking ranking;
  if (monitor.should_stop()) ranking.termination = termination_from(monitor.stop_reason());
  for (DcpContextSplit& split : splits)
    if (!split.labels.empty()) ranking.contexts.push_back({std::move(split), 0, 0});
  set_consensus(ranking.contexts);
  set_match(ranking.contexts);
  std::stable_sort(ranking.contexts.begin(), ranking.contexts.end(),
                   [](const DcpRankedContext& a, const DcpRankedContext& b) {
                     if (a.match != b.match) return a.match > b.match;
                     return a.split.separation > b.split.separation;
                   });
  for (size_t i = 0; i < contexts.size() && !ranking.contexts.empty(); ++i)
    if (contexts[i].name == ranking.contexts[0].split.name)
      ranking.first_result = std::move(results[i]);
  return ranking;
}

}  // namespace milieu

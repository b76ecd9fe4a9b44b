// SPDX-License-Identifier: Apache-2.0
// Coarse classes made by merging true ones: are the true classes found again as sub-classes of each
// coarse one? icc finds their number by itself; the baselines, fitted to each coarse class alone,
// are told it. Merges are drawn at random, one per seed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "milieu/base/random.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/icc/icc.h"
#include "milieu/linalg/pca.h"
#include "milieu/metrics/metrics.h"
#include "reproduce/dcp/dcp.h"
#include "reproduce/deep/deep.h"

namespace milieu::cli {

namespace {

// Which set, and how many of its classes become one. The bandwidth of climb free was looked at on
// Caltech only.
struct Merge {
  std::string_view set;
  int per_coarse;
};
constexpr Merge kMerges[] = {
    {"caltech101", 2}, {"caltech101", 4}, {"scenes15", 3}, {"uiuc_textures", 5}};
constexpr int kMostParts = 8;  // that the information criterion may choose
constexpr int kMixtureDims = 10;

struct Coarse {
  std::vector<int> classes;                // coarse class of every row
  std::vector<std::vector<int64_t>> rows;  // of each coarse class
};

Coarse merge_classes(const DeepSet& set, int per_coarse, uint64_t seed) {
  std::vector<int> order(static_cast<size_t>(set.num_classes()));
  std::iota(order.begin(), order.end(), 0);
  Random random = Random(seed).child(22);
  random.shuffle(std::span<int>(order));
  std::vector<int> coarse_of(order.size());
  const int num_coarse = std::max(2, set.num_classes() / per_coarse);
  for (size_t i = 0; i < order.size(); ++i)
    coarse_of[static_cast<size_t>(order[i])] = static_cast<int>(i) % num_coarse;
  Coarse coarse;
  coarse.rows.resize(static_cast<size_t>(num_coarse));
  for (size_t i = 0; i < set.classes().size(); ++i) {
    coarse.classes.push_back(coarse_of[static_cast<size_t>(set.classes()[i])]);
    coarse.rows[static_cast<size_t>(coarse.classes.back())].push_back(static_cast<int64_t>(i));
  }
  return coarse;
}

std::vector<int> of_rows(const std::vector<int>& values, const std::vector<int64_t>& rows) {
  std::vector<int> chosen;
  for (const int64_t row : rows) chosen.push_back(values[static_cast<size_t>(row)]);
  return chosen;
}

// {ARI, accuracy, sub-classes per coarse class}, means over the coarse classes.
std::vector<double> figures_within(const DeepSet& set, const Coarse& coarse,
                                   const std::vector<int>& labels) {
  std::vector<double> sums(3);
  for (const std::vector<int64_t>& rows : coarse.rows) {
    const Metrics m = compute_metrics(of_rows(labels, rows), of_rows(set.classes(), rows));
    sums[0] += m.ari, sums[1] += m.accuracy, sums[2] += m.num_clusters;
  }
  for (double& sum : sums) sum /= static_cast<double>(coarse.rows.size());
  return sums;
}

// A way to split: labels of all rows, distinct between coarse classes or not.
struct Splitter {
  std::string name;
  std::function<std::vector<int>(const Coarse&, uint64_t seed)> labels;
};

using SplitClass = std::function<std::vector<int>(FloatView points, int k, uint64_t seed)>;

// Each coarse class by itself, told the number of its true classes.
std::vector<int> split_each(DeepSet& set, const Coarse& coarse, uint64_t seed,
                            const SplitClass& split) {
  std::vector<int> labels(set.classes().size());
  for (const std::vector<int64_t>& rows : coarse.rows) {
    std::vector<int> truth = of_rows(set.classes(), rows);
    std::ranges::sort(truth);
    const auto k = static_cast<int>(std::unique(truth.begin(), truth.end()) - truth.begin());
    const std::vector<int> found = split(gather_rows(set.embedding(), rows), k, seed);
    for (size_t i = 0; i < found.size(); ++i) labels[static_cast<size_t>(rows[i])] = found[i];
  }
  return labels;
}

// k > 0: told the number; 0: by the lowest BIC of diagonal mixtures.
std::vector<int> split_by_mixture(const ReproduceRun& run, FloatView points, int k, uint64_t seed) {
  const int dims =
      static_cast<int>(std::min<int64_t>({kMixtureDims, points.rows(), points.cols()}));
  const Matrix<float> reduced = project(fit_pca(points, dims), points);
  GmmOptions options;
  options.num_restarts = run.num_restarts(5);
  options.seed = seed;
  options.num_threads = run.options().num_threads;
  const auto n = static_cast<double>(points.rows());
  std::vector<int> labels;
  double lowest = std::numeric_limits<double>::infinity();
  const int most = static_cast<int>(std::min<int64_t>(kMostParts, points.rows()));
  for (int parts = k > 0 ? k : 1; parts <= (k > 0 ? k : most) && !run.is_stopped(); ++parts) {
    options.num_clusters = parts;
    GmmResult fit = fit_gmm({reduced, {}, {}}, options, run.monitor());
    const double bic = parts * (2.0 * dims + 1) * std::log(n) - 2 * fit.summary.objective;
    if (bic < lowest) lowest = bic, labels = std::move(fit.labels);
  }
  return labels;
}

Splitter icc_splitter(const ReproduceRun& run, DeepSet& set, std::string name, IccOptions options) {
  return {std::move(name), [&run, &set, options](const Coarse& coarse, uint64_t seed) mutable {
            options.seed = seed;
            options.num_dims =
                static_cast<int>(std::min<int64_t>(options.num_dims, set.embedding().cols()));
            options.num_threads = run.options().num_threads;
            return fit_icc({set.embedding(), coarse.classes}, options, run.monitor()).labels;
          }};
}

std::vector<Splitter> splitters(const ReproduceRun& run, DeepSet& set) {
  std::vector<Splitter> all;
  for (const Baseline& baseline : deep_baselines(run))
    all.push_back({baseline.name + " per class, told the number",
                   [&set, baseline](const Coarse& coarse, uint64_t seed) {
                     return split_each(set, coarse, seed, baseline.labels);
                   }});
  all.push_back({"mixture per class on 10 components, told the number",
                 [&run, &set](const Coarse& coarse, uint64_t seed) {
                   return split_each(set, coarse, seed, [&](FloatView points, int k, uint64_t s) {
                     return split_by_mixture(run, points, k, s);
                   });
                 }});
  all.push_back({"mixture per class on 10 components, number by BIC",
                 [&run, &set](const Coarse& coarse, uint64_t seed) {
                   return split_each(set, coarse, seed, [&](FloatView points, int, uint64_t s) {
                     return split_by_mixture(run, points, 0, s);
                   });
                 }});
  all.push_back(icc_splitter(run, set, "icc, default (2 principal axes)", {}));
  IccOptions automatic;
  automatic.bandwidth = "auto";
  all.push_back(icc_splitter(run, set, "icc, bandwidth auto", automatic));
  IccOptions lda = automatic;
  lda.projection = IccProjection::Lda;
  all.push_back(icc_splitter(run, set, "icc, 2 discriminant axes, bandwidth auto", lda));
  for (const char* bandwidth : {"0.05", "0.1", "0.2"}) {
    IccOptions free;
    free.climb = IccClimb::Free;
    free.num_dims = kMixtureDims;
    free.bandwidth = bandwidth;
    all.push_back(icc_splitter(
        run, set, fmt::format("icc, climb free in 10 components, bandwidth {}", bandwidth), free));
  }
  return all;
}

// {ARI, accuracy, sub-classes, CPU seconds} of one random merge.
std::vector<double> merge_figures(const ReproduceRun& run, DeepSet& set, const Splitter& splitter,
                                  int per_coarse, uint64_t seed) {
  const std::string key = fmt::format("deep icc {} merged by {}, {}, seed {}", set.name(),
                                      per_coarse, splitter.name, seed);
  return run.piece(key, [&] {
    run.say(key);
    if (set.embedding().empty()) return std::vector<double>(4);
    const Coarse coarse = merge_classes(set, per_coarse, seed);
    const double before = cpu_seconds();
    const std::vector<int> labels = splitter.labels(coarse, seed);
    const double seconds = cpu_seconds() - before;
    if (run.is_stopped()) return std::vector<double>(4);
    std::vector<double> all = figures_within(set, coarse, labels);
    all.push_back(seconds);
    return all;
  });
}

// False if stopped.
bool show_merge(ReproduceRun& run, DeepSet& set, int per_coarse) {
  const int num_runs = run.num_runs(kDeepRuns);
  ResultTable table{fmt::format("deep_icc_{}_{}", set.name(), per_coarse),
                    fmt::format("{} classes of {} merged by {} at random: the true classes as "
                                "sub-classes, embedding",
                                set.num_classes(), set.name(), per_coarse),
                    {"method", "ARI within", "accuracy within", "sub-classes", "CPU s"},
                    {},
                    {fmt::format("{} random merges, mean and 95 % interval; means over the "
                                 "coarse classes; true sub-classes: {}",
                                 num_runs, per_coarse)}};
  for (const Splitter& splitter : splitters(run, set)) {
    std::vector<double> columns[4];
    for (int i = 0; i < num_runs; ++i) {
      const std::vector<double> figures = merge_figures(
          run, set, splitter, per_coarse, run.options().seed + static_cast<uint64_t>(i));
      if (run.is_stopped()) return false;
      for (size_t f = 0; f < 4; ++f) columns[f].push_back(figures.at(f));
    }
    table.rows.push_back({splitter.name, interval_text(columns[0]), interval_text(columns[1]),
                          fmt::format("{:.1f}", mean_of(columns[2])),
                          fmt::format("{:.2f}", mean_of(columns[3]))});
  }
  run.show(table);
  return true;
}

}  // namespace

void reproduce_deep_icc(ReproduceRun& run) {
  std::vector<DeepSet> sets = deep_sets(run);
  run.keep_progress("deep");
  for (const Merge& merge : kMerges)
    for (DeepSet& set : sets)
      if (set.name() == merge.set && !show_merge(run, set, merge.per_coarse)) return;
}

}  // namespace milieu::cli

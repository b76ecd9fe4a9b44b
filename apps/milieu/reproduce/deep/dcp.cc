// SPDX-License-Identifier: Apache-2.0
// dcp where only a context can decide: two-factor sets (dcp/two_factor.h) described by a network.
// The context lies between the values of one factor; the error is that of the split against this
// factor. Then, without labels: which context is ranked first?
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "milieu/dcp/dcp_rank.h"
#include "reproduce/dcp/dcp.h"
#include "reproduce/dcp/two_factor.h"
#include "reproduce/deep/deep.h"

namespace milieu::cli {

namespace {

constexpr int kPairs = 3;  // of classes, for each kind and seed

// {error with the class asked for, error with the second factor asked for, CPU seconds}.
std::vector<double> split_figures(const TwoFactorMethod& method, const TwoFactorRows& rows,
                                  uint64_t seed, const ReproduceRun& run) {
  std::vector<double> figures;
  const double before = cpu_seconds();
  std::vector<int> labels;
  for (int asked = 0; asked < 2; ++asked) {
    if (asked == 0 || method.sees_context)
      labels = method.labels(rows.set, rows.between[asked], seed);
    if (run.is_stopped()) return {0, 0, 0};
    figures.push_back(balanced_error(labels, rows.truth[asked]));
  }
  figures.push_back(cpu_seconds() - before);
  return figures;
}

// Spearman's correlation; ties by order, which is fine for a few real numbers.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto ranks = [](const std::vector<double>& values) {
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t i, size_t j) { return values[i] < values[j]; });
    std::vector<double> rank(values.size());
    for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<double>(i);
    return rank;
  };
  const std::vector<double> x = ranks(a), y = ranks(b);
  double squared = 0;
  for (size_t i = 0; i < x.size(); ++i) squared += (x[i] - y[i]) * (x[i] - y[i]);
  const auto n = static_cast<double>(x.size());
  return n < 2 ? 0 : 1 - 6 * squared / (n * (n * n - 1));
}

// The error of a split for the factor that it follows more.
double better_error(const std::vector<int>& labels, const TwoFactorRows& rows) {
  return std::min(balanced_error(labels, rows.truth[0]), balanced_error(labels, rows.truth[1]));
}

// {first is a context in between, its error, mean error of all contexts, correlation of match
// and of confidence with 1 - error, seconds}.
std::vector<double> rank_figures(const TwoFactorRows& rows, uint64_t seed,
                                 const ReproduceRun& run) {
  std::vector<DcpContext> contexts = {{"between classes", rows.between[0]},
                                      {"between values", rows.between[1]}};
  for (size_t i = 0; i < rows.others.size(); ++i)
    contexts.push_back({fmt::format("other class {}", i + 1), rows.others[i]});
  DcpOptions options;
  options.num_restarts = run.num_restarts(options.num_restarts);
  options.seed = seed;
  options.num_threads = run.options().num_threads;
  const double before = cpu_seconds();
  const DcpRanking ranking = rank_contexts({rows.set}, contexts, options, run.monitor());
  const double seconds = cpu_seconds() - before;
  if (run.is_stopped()) return std::vector<double>(6);
  std::vector<double> match, confidence, right;
  for (const DcpRankedContext& context : ranking.contexts) {
    match.push_back(context.match);
    confidence.push_back(context.split.separation);
    right.push_back(1 - better_error(context.split.labels, rows));
  }
  return {ranking.contexts[0].split.name.starts_with("between") ? 1.0 : 0.0,
          1 - right[0],
          1 - mean_of(right),
          rank_correlation(match, right),
          rank_correlation(confidence, right),
          seconds};
}

// Figures of all problems of one kind: three of every method, in one vector; six of the ranking.
struct KindFigures {
  std::string name;
  std::vector<std::vector<double>> splits, ranks;
};

// A feature, and what its experiment is called: "deep dcp".
struct Experiment {
  std::string name, title;
  std::function<const DescribeImage&()> feature;
  bool is_ranked = true;
};

bool run_kind(const TwoFactorKind& kind, const TwoFactorSource& source,
              const Experiment& experiment, ReproduceRun& run, KindFigures& out) {
  out.name = kind.name;
  for (int i = 0; i < run.num_runs(kDeepRuns); ++i)
    for (int pair = 0; pair < std::min(kPairs, source.num_pairs(kind)); ++pair) {
      const uint64_t seed = run.options().seed + static_cast<uint64_t>(i);
      const std::string key =
          fmt::format("{} {}, pair {}, seed {}", experiment.name, kind.name, pair, seed);
      std::optional<TwoFactorRows> rows;
      const auto load = [&]() -> const TwoFactorRows& {
        if (!rows) {
          run.say(key);
          rows = describe(source.make(kind, pair, seed), experiment.feature(),
                          run.options().num_threads);
        }
        return *rows;
      };
      out.splits.emplace_back();
      for (const TwoFactorMethod& method : two_factor_methods(run)) {
        const std::vector<double> figures = run.piece(
            key + ", " + method.name, [&] { return split_figures(method, load(), seed, run); });
        if (run.is_stopped()) return false;
        out.splits.back().insert(out.splits.back().end(), figures.begin(), figures.end());
      }
      if (!experiment.is_ranked) continue;
      out.ranks.push_back(
          run.piece(key + ", ranking", [&] { return rank_figures(load(), seed, run); }));
      if (run.is_stopped()) return false;
    }
  return true;
}

std::vector<double> column_of(const std::vector<std::vector<double>>& all, size_t f) {
  std::vector<double> column;
  for (const std::vector<double>& each : all) column.push_back(each.at(f));
  return column;
}

// Mean of both asked factors, for every problem.
std::vector<double> errors_of(const std::vector<KindFigures>& kinds, size_t method) {
  std::vector<double> errors;
  for (const KindFigures& kind : kinds)
    for (const std::vector<double>& split : kind.splits)
      errors.push_back((split.at(3 * method) + split.at(3 * method + 1)) / 2);
  return errors;
}

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  for (size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  return differences;
}

void show_errors(const Experiment& experiment, const std::vector<KindFigures>& kinds,
                 const ReproduceRun& run) {
  std::string file = experiment.name;
  std::ranges::replace(file, ' ', '_');
  ResultTable table{file,
                    fmt::format("Two-factor sets, {}: error in % for the factor that the context "
                                "asks for (class / second factor)",
                                experiment.title),
                    {"method"},
                    {},
                    {}};
  for (const KindFigures& kind : kinds) table.columns.push_back(kind.name);
  for (const char* name : {"mean of all", "minus that of dcp, default", "CPU s"})
    table.columns.emplace_back(name);
  const std::vector<TwoFactorMethod> methods = two_factor_methods(run);
  for (size_t m = 0; m < methods.size(); ++m) {
    std::vector<std::string> row = {methods[m].name};
    std::vector<double> seconds;
    for (const KindFigures& kind : kinds) {
      row.push_back(fmt::format("{} / {}", percent_text(mean_of(column_of(kind.splits, 3 * m))),
                                percent_text(mean_of(column_of(kind.splits, 3 * m + 1)))));
      const std::vector<double> each = column_of(kind.splits, 3 * m + 2);
      seconds.insert(seconds.end(), each.begin(), each.end());
    }
    const std::vector<double> errors = errors_of(kinds, m);
    row.push_back(interval_text(errors));
    row.push_back(m == 0 ? "" : interval_text(difference(errors, errors_of(kinds, 0))));
    row.push_back(fmt::format("{:.2f}", mean_of(seconds)));
    table.rows.push_back(std::move(row));
  }
  table.notes = {
      fmt::format("{} sets per kind ({} pairs of classes x {} seeds); 95 % intervals over all "
                  "sets; \"minus\": paired differences, above 0 where dcp is better",
                  kinds[0].splits.size(), kPairs, run.num_runs(kDeepRuns)),
      "a split that follows the other factor has an error of 50 for the one asked for",
      "--preset margin: what was the default before whitening",
      "contrastive PCA: 2 directions of largest (variance of the set) - (1 or 10) (that of the "
      "context)"};
  run.show(table);
}

void show_ranks(const std::vector<KindFigures>& kinds, const ReproduceRun& run) {
  ResultTable table{
      "deep_dcp_contexts",
      "The same sets, contexts ranked without labels (dcp, default)",
      {"sets", "first lies in between", "error of the first", "mean error of all",
       "correlation of match", "of separation", "CPU s"},
      {},
      {"contexts: the two in between, and four classes that are not; error: for the "
       "factor that the split follows more",
       "correlation: Spearman's, of 1 - error with match or separation, within a set, "
       "averaged"}};
  for (const KindFigures& kind : kinds) {
    const auto cell = [&](size_t f) { return interval_text(column_of(kind.ranks, f)); };
    table.rows.push_back({kind.name, percent_text(mean_of(column_of(kind.ranks, 0))) + " %",
                          cell(1), cell(2),
                          fmt::format("{:.2f}", mean_of(column_of(kind.ranks, 3))),
                          fmt::format("{:.2f}", mean_of(column_of(kind.ranks, 4))),
                          fmt::format("{:.1f}", mean_of(column_of(kind.ranks, 5)))});
  }
  run.show(table);
}

// What the first set of each kind looks like.
void write_sheets(const TwoFactorSource& source, const ReproduceRun& run) {
  if (run.options().out.empty()) return;
  for (const TwoFactorKind& kind : two_factor_kinds(false)) {
    std::string name = fmt::format("deep_dcp {}.png", kind.name);
    std::ranges::replace(name, ' ', '_');
    run.write(name, draw_two_factors(source.make(kind, 0, run.options().seed)));
  }
}

}  // namespace

void reproduce_deep_dcp(ReproduceRun& run) {
  const std::string feature_text = embedding_feature(run);
  const TwoFactorSource source(run);
  run.keep_progress("deep_dcp");
  write_sheets(source, run);
  std::optional<DescribeImage> opened;
  const auto feature = [&]() -> const DescribeImage& {
    if (!opened) opened = open_feature(feature_text, run);
    return *opened;
  };
  const Experiment experiment{"deep dcp", "embedding", feature, true};
  std::vector<KindFigures> kinds;
  for (const TwoFactorKind& kind : two_factor_kinds(false)) {
    kinds.emplace_back();
    if (!run_kind(kind, source, experiment, run, kinds.back())) return;
  }
  show_errors(experiment, kinds, run);
  show_ranks(kinds, run);
}

void reproduce_dcp_two_factor(ReproduceRun& run) {
  const TwoFactorSource source(run);
  run.keep_progress("dcp_two_factor");
  const DescribeImage pixels = pixels_of;
  const Experiment experiment{"dcp two-factor", "pixels",
                              [&]() -> const DescribeImage& { return pixels; }, false};
  std::vector<KindFigures> kinds;
  for (const TwoFactorKind& kind : two_factor_kinds(true)) {
    kinds.emplace_back();
    if (!run_kind(kind, source, experiment, run, kinds.back())) return;
  }
  show_errors(experiment, kinds, run);
}

}  // namespace milieu::cli

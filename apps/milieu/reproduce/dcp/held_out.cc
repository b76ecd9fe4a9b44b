// SPDX-License-Identifier: Apache-2.0
// Pairs of classes that chose no default: two classes mixed 1:1 and 1:10, split by methods that see
// no context, and by dcp against six other classes, one at a time and together. Also: does the
// ranking find the good contexts, and is the confidence what it says?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "milieu/classic/agglomerative/agglomerative.h"
#include "milieu/dcp/dcp.h"
#include "milieu/dcp/dcp_vote.h"
#include "milieu/metrics/metrics.h"
#include "milieu/metrics/paired_test.h"
#include "reproduce/dcp/dcp.h"
#include "reproduce/dcp/held_out_problems.h"
#include "reproduce/dcp/two_factor.h"
#include "reproduce/deep/deep.h"

namespace milieu::cli {

namespace {

std::vector<int> ward(FloatView points, const ReproduceRun& run) {
  AgglomerativeOptions options;
  options.num_clusters = 2;
  options.num_threads = run.options().num_threads;
  return fit_agglomerative({points}, options, run.monitor()).labels;
}

// Methods of the table: those that see no context once, the others with every context.
const std::vector<std::string>& blind_names() {
  static const std::vector<std::string> names = {"k-means", "mixture on 10 components",
                                                 "normalized cut"};
  return names;
}

double correlation(std::vector<double> a, std::vector<double> b) {
  const auto to_ranks = [](std::vector<double>& values) {
    std::vector<double> ranks;
    for (const double value : values) {
      double rank = 0;
      for (const double other : values) rank += other < value ? 1 : other == value ? 0.5 : 0;
      ranks.push_back(rank);
    }
    values = ranks;
  };
  to_ranks(a);
  to_ranks(b);
  double saa = 0, sbb = 0, sab = 0;
  const double ma = mean_of(a), mb = mean_of(b);
  for (size_t i = 0; i < a.size(); ++i) {
    saa += (a[i] - ma) * (a[i] - ma);
    sbb += (b[i] - mb) * (b[i] - mb);
    sab += (a[i] - ma) * (b[i] - mb);
  }
  return saa > 0 && sbb > 0 ? sab / std::sqrt(saa * sbb) : std::nan("");
}

// Where the figures of one problem stand.
enum Figure {
  KMeansError,
  MixtureError,
  CutError,
  WardError,
  DcpOne,
  DcpTogether,
  DcpFirst,
  DcpVoted,
  MatchRho,
  ConfidenceRho,
  DcpSeconds,
  FirstConfidence
};

std::vector<double> run_problem(const PairProblem& problem, uint64_t seed,
                                const ReproduceRun& run) {
  std::vector<double> figures;
  const std::vector<TwoFactorMethod> methods = two_factor_methods(run);
  for (const std::string& name : blind_names())
    for (const TwoFactorMethod& method : methods)
      if (method.name == name)
        figures.push_back(balanced_error(method.labels(problem.set, {}, seed), problem.truth));
  figures.push_back(balanced_error(ward(problem.set, run), problem.truth));
  std::vector<double> errors, separations, matches, confidences, right;
  std::vector<std::vector<int>> splits;
  const double before = cpu_seconds();
  for (const Matrix<float>& context : problem.contexts) {
    DcpOptions options;
    options.seed = seed;
    options.num_threads = run.options().num_threads;
    DcpInput input;
    input.points = problem.set;
    input.context = context;
    const DcpResult result = fit_dcp(input, options, run.monitor());
    if (run.is_stopped()) return std::vector<double>(FirstConfidence + 15);
    errors.push_back(balanced_error(result.labels, problem.truth));
    separations.push_back(result.separation);
    confidences.push_back(result.confidence);
    splits.push_back(result.labels);
  }
  const double seconds = (cpu_seconds() - before) / static_cast<double>(problem.contexts.size());
  const size_t best =
      static_cast<size_t>(std::ranges::max_element(separations) - separations.begin());
  for (size_t c = 0; c < splits.size(); ++c) {
    matches.push_back(compute_metrics(splits[c], splits[best]).ari);
    right.push_back(1 - errors[c]);
  }
  const std::vector<double> single(errors.begin(), errors.end() - 1);
  figures.push_back(mean_of(single));
  figures.push_back(errors.back());
  figures.push_back(errors[best]);
  std::swap(splits[0], splits[best]);
  figures.push_back(balanced_error(vote_on_parts(splits, 2).labels, problem.truth));
  figures.push_back(correlation(matches, right));
  figures.push_back(correlation(separations, right));
  figures.push_back(seconds);
  for (size_t c = 0; c < splits.size(); ++c) {
    figures.push_back(confidences[c]);
    figures.push_back(errors[c]);
  }
  return figures;
}

struct Row {
  std::string set;
  bool is_unequal = false;
  std::vector<double> figures;
};

std::vector<double> column(const std::vector<Row>& rows, const std::string& set, bool is_unequal,
                           size_t figure) {
  std::vector<double> values;
  for (const Row& row : rows)
    if ((set.empty() || row.set == set) && row.is_unequal == is_unequal &&
        !std::isnan(row.figures[figure]))
      values.push_back(row.figures[figure]);
  return values;
}

std::string difference_text(const std::vector<double>& a, const std::vector<double>& b) {
  const PairedTest test = paired_t_test(a, b);
  return fmt::format("{:+.1f} (p {})", 100 * test.mean_difference,
                     test.p_value < 1e-4 ? "< .0001" : fmt::format("{:.4f}", test.p_value));
}

void show_errors(const std::vector<Row>& rows, const std::vector<std::string>& sets,
                 bool is_unequal, const ReproduceRun& run) {
  const char* names[] = {"k-means",
                         "mixture on 10 components",
                         "normalized cut",
                         "Ward",
                         "dcp, mean of single contexts",
                         "dcp, all contexts together",
                         "dcp, first of the ranking",
                         "dcp, vote of the contexts"};
  ResultTable table{fmt::format("dcp_held_out_1_{}", is_unequal ? 10 : 1),
                    fmt::format("Held-out pairs of classes, 1:{}: class-balanced error in %",
                                is_unequal ? 10 : 1),
                    {"method"},
                    {},
                    {"minus: paired over all pairs; above 0 where dcp is better"}};
  for (const std::string& set : sets)
    table.columns.push_back(fmt::format("{} ({})", set, column(rows, set, is_unequal, 0).size()));
  for (const char* name : {"all", "minus dcp, single", "minus dcp, together"})
    table.columns.emplace_back(name);
  for (size_t f = 0; f < std::size(names); ++f) {
    std::vector<std::string> cells = {names[f]};
    for (const std::string& set : sets)
      cells.push_back(percent_text(mean_of(column(rows, set, is_unequal, f))));
    const std::vector<double> all = column(rows, "", is_unequal, f);
    cells.push_back(percent_text(mean_of(all)));
    cells.push_back(f == DcpOne ? "" : difference_text(all, column(rows, "", is_unequal, DcpOne)));
    cells.push_back(
        f == DcpTogether ? "" : difference_text(all, column(rows, "", is_unequal, DcpTogether)));
    table.rows.push_back(std::move(cells));
  }
  table.notes.push_back(fmt::format("CPU seconds of one fit of dcp: {:.2f} on average",
                                    mean_of(column(rows, "", is_unequal, DcpSeconds))));
  run.show(table);
}

void show_trust(const std::vector<Row>& rows, const ReproduceRun& run) {
  ResultTable ranking{"dcp_held_out_ranking",
                      "Ranking of contexts within a problem: Spearman's correlation with 1 - error",
                      {"mixture", "match", "separation", "problems"},
                      {},
                      {}};
  for (const bool is_unequal : {false, true})
    ranking.rows.push_back(
        {is_unequal ? "1:10" : "1:1",
         fmt::format("{:.2f}", mean_of(column(rows, "", is_unequal, MatchRho))),
         fmt::format("{:.2f}", mean_of(column(rows, "", is_unequal, ConfidenceRho))),
         fmt::format("{}", column(rows, "", is_unequal, MatchRho).size())});
  run.show(ranking);
  ResultTable table{"dcp_held_out_confidence",
                    "Is the confidence what it says? All splits of all problems",
                    {"confidence", "splits", "mean confidence in %", "share right in %"},
                    {},
                    {}};
  const double edges[] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01};
  for (size_t e = 0; e + 1 < std::size(edges); ++e) {
    std::vector<double> said, right;
    for (const Row& row : rows)
      for (size_t f = FirstConfidence; f + 1 < row.figures.size(); f += 2)
        if (row.figures[f] >= edges[e] && row.figures[f] < edges[e + 1]) {
          said.push_back(row.figures[f]);
          right.push_back(1 - row.figures[f + 1]);
        }
    if (said.empty()) continue;
    table.rows.push_back({fmt::format("{:.2f} to {:.2f}", edges[e], std::min(edges[e + 1], 1.0)),
                          fmt::format("{}", said.size()), percent_text(mean_of(said)),
                          percent_text(mean_of(right))});
  }
  run.show(table);
}

}  // namespace

void reproduce_dcp_held_out(ReproduceRun& run) {
  const std::vector<std::function<LabelledRows()>> makers = held_out_sets(run);
  run.keep_progress("dcp_held_out");
  std::vector<Row> rows;
  std::vector<std::string> sets;
  for (const auto& make : makers) {
    const LabelledRows data = make();
    if (run.is_stopped()) return;
    sets.push_back(data.name);
    run.say(data.name);
    const Random random(run.options().seed);
    const int num_classes = 1 + *std::ranges::max_element(data.labels);
    for (const auto& [first, second] : pairs_of(num_classes, random.child(0)))
      for (const bool is_unequal : {false, true}) {
        const std::string name =
            fmt::format("{}, {} v {}, {}", data.name, first, second, is_unequal ? "1:10" : "1:1");
        const PairProblem problem =
            make_problem(data, first, second, is_unequal,
                         random.child(static_cast<uint64_t>(1 + 1000 * first + second)));
        rows.push_back({data.name, is_unequal, run.piece("held-out " + name, [&] {
                          return run_problem(problem, run.options().seed, run);
                        })});
        if (run.is_stopped()) return;
        const std::span<const double> figures = rows.back().figures;
        export_problem(run, name, problem, figures.subspan(DcpOne, DcpFirst - DcpOne + 1));
      }
  }
  for (const bool is_unequal : {false, true}) show_errors(rows, sets, is_unequal, run);
  show_trust(rows, run);
}

}  // namespace milieu::cli

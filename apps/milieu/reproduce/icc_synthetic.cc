// SPDX-License-Identifier: Apache-2.0
// [Yu13] on generated data: Table 1, the sub-classes of Figures 3 and 7, time against n of
// Figure 7.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/random.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/icc/icc_compare.h"
#include "milieu/icc/icc_examples.h"
#include "reproduce/icc.h"
#include "reproduce/icc_figures.h"

namespace milieu::cli {

namespace {

using internal::IccExample;
using internal::make_icc_experiment1;
using internal::make_icc_figure7;

std::string rounded(double value, int digits = 1) { return fmt::format("{:.{}f}", value, digits); }

// Median of what `measure` returns: of five runs, or of one if a run is long.
template <class Measure>
double median_seconds(int64_t n, Measure&& measure) {
  std::vector<double> tries;
  for (int t = 0; t < (n <= 10000 ? 5 : 1); ++t) tries.push_back(measure());
  std::ranges::sort(tries);
  return tries[tries.size() / 2];
}

}  // namespace

// Fresh data for every trial: 700 points, 650 to train on, 50 to test.
void reproduce_icc_table1(ReproduceRun& run) {
  constexpr const char* kPublished[] = {"54.3", "70.6", "78.7", "-", "-", "-", "88.0"};
  IccCompareOptions options;
  options.classifier.icc.grid = "600x200";  // as in the paper, with a window of 8 s
  options.classifier.icc.bandwidth = "25c";
  options.holdout = 50.0 / 700;
  options.repeat = 1;
  const int trials = run.num_runs(20);
  std::vector<IccComparison> all;
  for (int t = 0; t < trials && !run.is_stopped(); ++t) {
    Random random = Random(run.options().seed).child(static_cast<uint64_t>(t));
    const IccExample data = make_icc_experiment1(random, 700);
    options.classifier.icc.seed = run.options().seed + static_cast<uint64_t>(t);
    options.classifier.icc.num_threads = run.options().num_threads;
    options.contenders = paper_contenders(options.classifier);
    options.contenders.insert(options.contenders.begin() + 2, options.contenders[2]);
    options.contenders[2].name = "EM + LDA, random start";
    options.contenders[2].options.init = GmmInit::Random;
    options.contenders[3].name = "EM + LDA, k-means start";
    for (const char* count : {"5", "3"}) {  // components per class, as in section 3.1
      options.contenders.insert(options.contenders.begin() + 4, options.contenders[3]);
      options.contenders[4].name = fmt::format("EM + LDA, {} components", count);
      options.contenders[4].options.em_count = count;
    }
    all.push_back(compare_icc({data.points, data.classes, {}}, options, run.monitor()));
  }
  if (run.is_stopped()) return;
  ResultTable table{"icc_table1",
                    "Experiment 1, test accuracy in %, [Yu13, Table 1]",
                    {"method", "paper", "here", "sub-classes", "overlap", "seconds", "trials"},
                    {},
                    {}};
  for (size_t r = 0; r < std::size(kPublished); ++r) {
    std::vector<double> accuracies;
    double subclasses = 0, overlap = 0, seconds = 0;
    for (const IccComparison& one : all) {
      accuracies.push_back(one.rows[r].mean);
      subclasses += one.rows[r].subclasses / trials;
      overlap += one.rows[r].overlap / trials;
      seconds += one.rows[r].seconds / trials;
    }
    table.rows.push_back({all[0].rows[r].name, kPublished[r], interval_text(accuracies),
                          rounded(subclasses), rounded(overlap, 3), rounded(seconds, 4),
                          std::to_string(trials)});
  }
  run.show(table);
}

void reproduce_icc_figure7(ReproduceRun& run) {
  ResultTable table{
      "icc_figure7",
      "Figure 7 data, s 8 of 100 cells, z 50, min size 5: sets with 3 + 2 sub-classes",
      {"n", "paper", "sets with 3 + 2", "sets"},
      {},
      {"the paper says 3 and 2 for all n"}};
  const int sets = run.num_runs(20);
  for (const int64_t n : {1000, 2000, 5000}) {
    int right = 0;
    for (int s = 0; s < sets && !run.is_stopped(); ++s) {
      Random random = Random(run.options().seed).child(static_cast<uint64_t>(s));
      const IccExample data = make_icc_figure7(random, n);
      IccOptions options;
      options.bandwidth = "8c";
      options.window = 6.25;
      options.min_size = 5;
      const IccModel model =
          fit_icc({data.points, data.classes, {}, {}}, options, run.monitor()).model;
      right += model.subclasses == std::vector<int>{3, 2};
    }
    table.rows.push_back({std::to_string(n), "all", std::to_string(right), std::to_string(sets)});
  }
  if (!run.is_stopped()) run.show(table);
}

namespace {

// Mixtures of 3 and 2 components for the two classes.
double mixture_seconds(const ReproduceRun& run, const IccExample& data, int64_t n, GmmInit init) {
  double seconds = 0;
  const int64_t objects = n * 6 / 10;
  for (const int c : {0, 1}) {
    GmmOptions em;
    em.num_clusters = c == 0 ? 3 : 2;
    em.covariance = GmmCovariance::Full;
    em.init = init;
    em.num_threads = run.options().num_threads;
    const FloatView own = c == 0 ? data.points.view().rows_between(0, objects)
                                 : data.points.view().rows_between(objects, n);
    seconds += fit_gmm({own, {}, {}}, em, run.monitor()).summary.seconds;
  }
  return seconds;
}

}  // namespace

void reproduce_icc_time(ReproduceRun& run) {
  ResultTable table{
      "icc_time",
      "Seconds against n, 100 x 100 cells, [Yu13, Figure 7]; EM: 3 + 2 components",
      {"n", "ICC", "EM, k-means start", "EM, random start"},
      {},
      {"medians of five up to 10000; Milieu's own EM, bench/speed/icc.py has scikit-learn's"}};
  SeriesPlot plot{"Time against n", "log10 of n", "log10 of seconds", {}};
  for (size_t c = 1; c < table.columns.size(); ++c)
    plot.series.push_back({table.columns[c], {}, {}});
  const auto add = [&](std::vector<std::string>& row, int64_t n, double seconds) {
    Series& series = plot.series[row.size() - 1];
    series.x.push_back(std::log10(static_cast<double>(n)));
    series.y.push_back(std::log10(seconds));
    row.push_back(rounded(seconds, 5));
  };
  for (const int64_t n : {500, 1000, 2000, 5000, 10000, 100000, 1000000}) {
    if (run.is_stopped()) return;
    Random random(run.options().seed);
    const IccExample data = make_icc_figure7(random, n);
    IccOptions options;
    options.bandwidth = "8c";
    options.window = 6.25;
    options.num_threads = run.options().num_threads;
    std::vector<std::string> row = {std::to_string(n)};
    add(row, n, median_seconds(n, [&] {
          return fit_icc({data.points, data.classes, {}, {}}, options, run.monitor())
              .summary.seconds;
        }));
    for (const GmmInit init : {GmmInit::KMeans, GmmInit::Random})
      add(row, n, median_seconds(n, [&] { return mixture_seconds(run, data, n, init); }));
    table.rows.push_back(row);
  }
  run.show(table);
  draw_series(run, "icc_time", table.title, {plot});
}

}  // namespace milieu::cli

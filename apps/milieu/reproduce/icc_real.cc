// SPDX-License-Identifier: Apache-2.0
// [Yu13] on other real data than its own: vowels for the North Texas vowels (Table 3,
// Figure 6), gases for the colas (Table 2).
#include <fmt/format.h>

#include "milieu/icc/icc_compare.h"
#include "reproduce/icc.h"
#include "reproduce/icc_data.h"
#include "reproduce/icc_figures.h"

namespace milieu::cli {

namespace {

void add_rows(ResultTable& table, const std::string& name, const IccComparison& comparison,
              const char* const* published) {
  for (size_t r = 0; r < comparison.rows.size(); ++r) {
    const IccCompareRow& row = comparison.rows[r];
    table.rows.push_back(
        {r == 0 ? name : "", row.name, published ? published[r] : "", interval_text(row.accuracies),
         r + 1 == comparison.rows.size() ? "-" : fmt::format("{:.2g}", row.p_value),
         fmt::format("{:.1f}", row.subclasses), fmt::format("{:.3f}", row.overlap),
         fmt::format("{:.3f}", row.seconds)});
  }
}

const std::vector<std::string> kColumns = {"data", "method",  "paper",   "accuracy %",
                                           "p",    "sub-cl.", "overlap", "seconds"};

IccCompareOptions base_options(const ReproduceRun& run, int trials) {
  IccCompareOptions options;
  options.classifier.automatic = true;
  options.classifier.icc.seed = run.options().seed;
  options.classifier.icc.num_threads = run.options().num_threads;
  options.repeat = run.num_runs(trials);
  return options;
}

}  // namespace

void reproduce_icc_vowels(ReproduceRun& run) {
  ResultTable table{"icc_vowels",
                    "Vowels, 90 % train, 10 % test, bandwidth by cross-validation; paper: North "
                    "Texas vowels [Yu13, Table 3]",
                    kColumns,
                    {},
                    {"EM starts from k-means, its number by cross-validation; both refined if "
                     "that helps there"}};
  constexpr const char* kPublished[] = {"41.7", "75.9", "79.2", "79.2"};
  const RealSet sets[] = {load_peterson_barney(run, {1, 2}), load_deterding(run),
                          load_hillenbrand(run)};
  constexpr const char* kNames[] = {"Peterson-Barney F1, F2", "Deterding", "Hillenbrand, 8"};
  for (int s = 0; s < 3 && !run.is_stopped(); ++s) {
    for (const bool is_grouped : {false, true}) {
      run.say(fmt::format("{}{}", kNames[s], is_grouped ? ", talkers together" : ""));
      IccCompareInput input{sets[s].points, sets[s].classes, {}};
      if (is_grouped) input.groups = sets[s].groups;
      const IccComparison comparison = compare_icc(input, base_options(run, 20), run.monitor());
      if (run.is_stopped()) return;
      add_rows(table, std::string(kNames[s]) + (is_grouped ? ", talkers together" : ""), comparison,
               is_grouped ? nullptr : kPublished);
    }
  }
  run.show(table);
}

// Batch 1 alone, as small as the paper's set.
void reproduce_icc_gas(ReproduceRun& run) {
  const RealSet set = load_gases(run, 1);
  ResultTable table{"icc_gas",
                    "Gases, batch 1, 150 train, 25 test; paper: colas [Yu13, Table 2]",
                    kColumns,
                    {},
                    {}};
  constexpr const char* kPublished[] = {"50.4", "68.2", "71.6", "84.2"};
  const auto compare = [&](const char* name, bool is_automatic, IccProjection projection,
                           const char* bandwidth) {
    IccCompareOptions options = base_options(run, 20);
    options.holdout = 25.0 / static_cast<double>(set.classes.size());
    options.num_train = 150;
    options.classifier.automatic = is_automatic;
    options.classifier.em_count = "icc";
    options.classifier.icc.standardize = true;
    options.classifier.icc.projection = projection;
    options.classifier.icc.bandwidth = bandwidth;
    add_rows(table, name, compare_icc({set.points, set.classes, {}}, options, run.monitor()),
             is_automatic ? kPublished : nullptr);
  };
  compare("auto", true, IccProjection::Pca, "0.05");
  if (!run.is_stopped()) compare("bandwidth by resampling", false, IccProjection::Pca, "auto");
  if (!run.is_stopped()) compare("in LDA space", false, IccProjection::Lda, "0.08");
  if (!run.is_stopped()) run.show(table);
}

void reproduce_icc_grid(ReproduceRun& run) {
  const RealSet set = load_hillenbrand(run);
  ResultTable table{"icc_grid",
                    "Hillenbrand vowels, s 15, z 60 cells on growing grids, [Yu13, Figure 6]",
                    {"grid", "weight", "paper %", "paper sub-cl.", "here %", "sub-cl.", "seconds"},
                    {},
                    {"paper: North Texas vowels, 76 to 79 % throughout"}};
  constexpr const char* kSubclasses[] = {"15", "", "", "", "108"};
  SeriesPlot accuracy{"Accuracy", "cells per axis", "test accuracy in %", {}};
  SeriesPlot number{"Sub-classes", "cells per axis", "sub-classes of all classes", {}};
  for (const char* weight : {"count", "density"}) {
    accuracy.series.push_back({weight, {}, {}});
    number.series.push_back({weight, {}, {}});
    for (int g = 0; g < 5; ++g) {
      const int cells = 100 + 50 * g;
      IccCompareOptions options = base_options(run, 5);
      options.classifier.automatic = false;
      options.classifier.icc.grid = std::to_string(cells);
      options.classifier.icc.bandwidth = "15c";
      options.classifier.icc.window = 4;
      options.classifier.icc.weight =
          std::string(weight) == "count" ? IccWeight::Count : IccWeight::Density;
      const IccComparison comparison =
          compare_icc({set.points, set.classes, {}}, options, run.monitor());
      if (run.is_stopped()) return;
      const IccCompareRow& row = comparison.rows.back();
      table.rows.push_back({fmt::format("{0} x {0}", cells), weight, "76 to 79", kSubclasses[g],
                            interval_text(row.accuracies), fmt::format("{:.1f}", row.subclasses),
                            fmt::format("{:.3f}", row.seconds)});
      for (SeriesPlot* plot : {&accuracy, &number}) plot->series.back().x.push_back(cells);
      accuracy.series.back().y.push_back(100 * row.mean);
      number.series.back().y.push_back(row.subclasses);
    }
  }
  run.show(table);
  draw_series(run, "icc_grid", table.title, {accuracy, number});
}

}  // namespace milieu::cli

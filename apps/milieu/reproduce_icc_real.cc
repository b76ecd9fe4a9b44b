// SPDX-License-Identifier: Apache-2.0
// [Yu13] on real data that stands in for its own: vowels for the North Texas vowels (Table 3,
// Figure 6), gases for the colas (Table 2).
#include <fmt/format.h>

#include <cmath>

#include "milieu/data/dataset.h"
#include "milieu/data/npy.h"
#include "milieu/icc/icc_compare.h"
#include "reproduce_icc.h"

namespace milieu::cli {

namespace {

struct RealSet {
  Matrix<float> points;
  std::vector<int> classes;
  std::vector<int> groups;
};

// Rows of a set that `keep` says, given columns (empty: all).
template <class Keep>
RealSet load_set(const ReproduceRun& run, const std::string& points_name,
                 const std::string& labels_name, const std::string& groups_name,
                 const std::vector<int>& columns, Keep&& keep) {
  const Dataset data = load_dataset(run.data_file(points_name));
  const std::vector<int64_t> labels = to_integers(open_npy(run.data_file(labels_name)));
  std::vector<int64_t> groups(labels.size(), 0);
  if (!groups_name.empty()) groups = to_integers(open_npy(run.data_file(groups_name)));
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < data.points.rows(); ++i)
    if (keep(data.points.view(), i)) rows.push_back(i);
  const int64_t d = columns.empty() ? data.points.cols() : static_cast<int64_t>(columns.size());
  RealSet set{Matrix<float>(static_cast<int64_t>(rows.size()), d), {}, {}};
  for (size_t r = 0; r < rows.size(); ++r) {
    for (int64_t j = 0; j < d; ++j)
      set.points(static_cast<int64_t>(r), j) =
          data.points.view()(rows[r], columns.empty() ? j : columns[j]);
    set.classes.push_back(static_cast<int>(labels[rows[r]]));
    set.groups.push_back(static_cast<int>(groups[rows[r]]));
  }
  return set;
}

bool is_complete(FloatView points, int64_t row) {
  for (const float value : points.row_span(row))
    if (value == 0) return false;
  return true;
}

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
  const auto all = [](FloatView, int64_t) { return true; };
  ResultTable table{"icc_vowels",
                    "Vowels, 90 % train, 10 % test, bandwidth by cross-validation; paper: North "
                    "Texas vowels [Yu13, Table 3]",
                    kColumns,
                    {},
                    {"EM starts from k-means, its number by cross-validation"}};
  constexpr const char* kPublished[] = {"41.7", "75.9", "79.2", "79.2"};
  const RealSet sets[] = {load_set(run, "peterson_barney/X.npy", "peterson_barney/labels.npy",
                                   "peterson_barney/talker.npy", {1, 2}, all),
                          load_set(run, "vowel_deterding/X.npy", "vowel_deterding/labels.npy",
                                   "vowel_deterding/speaker.npy", {}, all),
                          load_set(run, "hillenbrand/X8.npy", "hillenbrand/labels.npy",
                                   "hillenbrand/talker.npy", {}, is_complete)};
  constexpr const char* kNames[] = {"Peterson-Barney F1, F2", "Deterding", "Hillenbrand, 8"};
  for (int s = 0; s < 3 && !run.is_stopped(); ++s) {
    for (const bool is_grouped : {false, true}) {
      run.say(fmt::format("{}{}", kNames[s], is_grouped ? ", talkers together" : ""));
      IccCompareInput input{sets[s].points, sets[s].classes, {}};
      if (is_grouped) input.groups = sets[s].groups;
      const IccComparison comparison = compare_icc(input, base_options(run, 10), run.monitor());
      if (run.is_stopped()) return;
      add_rows(table, std::string(kNames[s]) + (is_grouped ? ", talkers together" : ""), comparison,
               is_grouped ? nullptr : kPublished);
    }
  }
  run.show(table);
}

// Sizes differ by four powers of ten, so logarithms; batch 1 alone, as small as the paper's set.
void reproduce_icc_gas(ReproduceRun& run) {
  const std::vector<int64_t> batch = to_integers(open_npy(run.data_file("gas_drift/batch.npy")));
  RealSet set = load_set(run, "gas_drift/X.npy", "gas_drift/labels.npy", "", {},
                         [&](FloatView, int64_t i) { return batch[i] == 1; });
  for (float& value : std::span(set.points.data(), set.points.size()))
    value = std::copysign(std::log1p(std::abs(value)), value);
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
  const RealSet set =
      load_set(run, "hillenbrand/X8.npy", "hillenbrand/labels.npy", "", {}, is_complete);
  ResultTable table{"icc_grid",
                    "Hillenbrand vowels, s 15, z 60 cells on growing grids, [Yu13, Figure 6]",
                    {"grid", "weight", "paper %", "paper sub-cl.", "here %", "sub-cl.", "seconds"},
                    {},
                    {"paper: North Texas vowels, 76 to 79 % throughout"}};
  constexpr const char* kSubclasses[] = {"15", "", "", "", "108"};
  for (const char* weight : {"count", "density"})
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
    }
  run.show(table);
}

}  // namespace milieu::cli

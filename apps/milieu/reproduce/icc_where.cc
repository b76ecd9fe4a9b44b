// SPDX-License-Identifier: Apache-2.0
// Where is ICC clearly better than a well-started mixture? Real sets, the same random splits for
// all, every choice made on the training rows alone, paired t-tests against the mixture.
#include <fmt/format.h>

#include "milieu/icc/icc_compare.h"
#include "milieu/metrics/paired_test.h"
#include "reproduce/icc.h"
#include "reproduce/icc_data.h"

namespace milieu::cli {

namespace {

struct Trial {
  const char* name;
  RealSet set;
  double holdout;
  int64_t num_train;
  bool is_grouped;
  bool is_standardized;
};

// Each from k-means, its number or bandwidth and whether to split by cross-validation. The last is
// what the others are tested against.
std::vector<IccContender> contenders_of(IccClassifierOptions base) {
  std::vector<IccContender> all;
  const auto add = [&](const char* name) -> IccClassifierOptions& {
    all.push_back({name, base});
    return all.back().options;
  };
  base.automatic = false;
  add("LDA only").split = IccSplit::None;
  add("ICC, bandwidth by persistence").icc.bandwidth = "auto";
  base.automatic = true;
  add("ICC");
  add("ICC in LDA space").icc.projection = IccProjection::Lda;
  add("ICC, axes searched").search_axes = true;
  base.split = IccSplit::Em;
  add("EM in LDA space").icc.projection = IccProjection::Lda;
  add("EM, axes searched").search_axes = true;
  add("EM");
  return all;
}

// Accuracy, sub-classes and seconds of every contender, one after the other, in one trial on
// one set: kept by --resume.
std::vector<double> figures_of(const ReproduceRun& run, const Trial& trial, int number,
                               std::vector<std::string>& names) {
  IccCompareOptions options;
  options.classifier.icc.seed = run.options().seed + static_cast<uint64_t>(number);
  options.classifier.icc.num_threads = run.options().num_threads;
  options.classifier.icc.standardize = trial.is_standardized;
  options.contenders = contenders_of(options.classifier);
  options.holdout = trial.holdout;
  options.num_train = trial.num_train;
  options.repeat = 1;
  names.clear();
  for (const IccContender& contender : options.contenders) names.emplace_back(contender.name);
  return run.piece(fmt::format("icc, {}, trial {}", trial.name, number), [&] {
    IccCompareInput input{trial.set.points, trial.set.classes, {}};
    if (trial.is_grouped) input.groups = trial.set.groups;
    std::vector<double> figures;
    for (const IccCompareRow& row : compare_icc(input, options, run.monitor()).rows)
      figures.insert(figures.end(), {row.mean, row.subclasses, row.seconds});
    return figures;
  });
}

void add_rows(const ReproduceRun& run, const Trial& trial, ResultTable& table) {
  const int trials = run.num_runs(10);
  std::vector<std::string> names;
  std::vector<std::vector<double>> all;
  for (int t = 0; t < trials; ++t) {
    all.push_back(figures_of(run, trial, t, names));
    if (run.is_stopped()) return;
  }
  const auto column = [&](size_t place) {
    std::vector<double> values;
    for (const std::vector<double>& figures : all) values.push_back(figures.at(place));
    return values;
  };
  const std::vector<double> reference = column(3 * (names.size() - 1));
  for (size_t c = 0; c < names.size(); ++c) {
    const std::vector<double> accuracies = column(3 * c);
    const bool is_tested = c + 1 < names.size() && trials > 1;
    table.rows.push_back(
        {c == 0 ? trial.name : "", names[c], interval_text(accuracies),
         c + 1 < names.size()
             ? fmt::format("{:+.1f}", 100 * (mean_of(accuracies) - mean_of(reference)))
             : "-",
         is_tested ? fmt::format("{:.2g}", paired_t_test(accuracies, reference).p_value) : "-",
         fmt::format("{:.1f}", mean_of(column(3 * c + 1))),
         fmt::format("{:.2f}", mean_of(column(3 * c + 2)))});
  }
}

void compare_on(ReproduceRun& run, const std::string& name, const std::vector<Trial>& trials) {
  ResultTable table{
      name,
      "Is ICC clearly better than a mixture on real data? Test accuracy, p against EM",
      {"data", "method", "accuracy %", "minus EM", "p", "sub-cl.", "seconds"},
      {},
      {"ICC and EM: bandwidth, weight or number, whether to split and to refine, by "
       "cross-validation on the",
       "training rows (talkers and batches kept together); persistence: uses no labels."}};
  for (const Trial& trial : trials) {
    run.say(trial.name);
    add_rows(run, trial, table);
    if (run.is_stopped()) return;
  }
  run.show(table);
}

}  // namespace

void reproduce_icc_where(ReproduceRun& run) {
  std::vector<Trial> trials;
  trials.push_back({"gases, batch 1", load_gases(run, 1), 25.0 / 445, 150, false, true});
  trials.push_back({"gases, a batch held out", load_gases(run, 0), 1.0 / 8, 1500, true, true});
  trials.push_back({"USPS digits", load_usps(run, 40, false), 0.1, 2000, false, false});
  trials.push_back({"USPS, even or odd", load_usps(run, 40, true), 0.1, 2000, false, false});
  compare_on(run, "icc_where", trials);
}

void reproduce_icc_talkers(ReproduceRun& run) {
  std::vector<Trial> trials;
  trials.push_back(
      {"Peterson-Barney F1, F2", load_peterson_barney(run, {1, 2}), 0.1, 0, true, false});
  trials.push_back({"Deterding", load_deterding(run), 0.2, 0, true, false});
  trials.push_back({"Hillenbrand", load_hillenbrand(run), 0.1, 0, true, true});
  compare_on(run, "icc_talkers", trials);
}

}  // namespace milieu::cli

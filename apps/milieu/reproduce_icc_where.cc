// SPDX-License-Identifier: Apache-2.0
// Where is ICC clearly better than a well-started mixture? Real sets, the same random splits for
// all, every choice made on the training rows alone, paired t-tests against the mixture.
#include <fmt/format.h>

#include "milieu/icc/icc_compare.h"
#include "reproduce_icc.h"
#include "reproduce_icc_data.h"

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

void compare_on(ReproduceRun& run, const std::string& name, const std::vector<Trial>& trials) {
  ResultTable table{
      name,
      "Is ICC clearly better than a mixture on real data? Test accuracy, p against EM",
      {"data", "method", "accuracy %", "minus EM", "p", "sub-cl.", "seconds"},
      {},
      {"ICC and EM: bandwidth, weight or number, whether to split and to refine, by "
       "cross-validation on the",
       "training rows (talkers and batches kept together); persistence: no labels spent on it."}};
  for (const Trial& trial : trials) {
    run.say(trial.name);
    IccCompareOptions options;
    options.classifier.icc.seed = run.options().seed;
    options.classifier.icc.num_threads = run.options().num_threads;
    options.classifier.icc.standardize = trial.is_standardized;
    options.contenders = contenders_of(options.classifier);
    options.holdout = trial.holdout;
    options.num_train = trial.num_train;
    options.repeat = run.num_runs(20);
    IccCompareInput input{trial.set.points, trial.set.classes, {}};
    if (trial.is_grouped) input.groups = trial.set.groups;
    const IccComparison comparison = compare_icc(input, options, run.monitor());
    if (run.is_stopped()) return;
    const IccCompareRow& reference = comparison.rows.back();
    for (const IccCompareRow& row : comparison.rows) {
      const bool is_reference = &row == &reference;
      table.rows.push_back(
          {&row == &comparison.rows.front() ? trial.name : "", row.name,
           interval_text(row.accuracies),
           is_reference ? "-" : fmt::format("{:+.1f}", 100 * (row.mean - reference.mean)),
           is_reference ? "-" : fmt::format("{:.2g}", row.p_value),
           fmt::format("{:.1f}", row.subclasses), fmt::format("{:.2f}", row.seconds)});
    }
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

// SPDX-License-Identifier: Apache-2.0
#include "milieu/icc/icc_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/classify/class_labels.h"
#include "milieu/classify/overlap.h"
#include "milieu/icc/icc_classifier_internal.h"
#include "milieu/linalg/pca.h"
#include "milieu/metrics/paired_test.h"

namespace milieu {

namespace {

using namespace internal;

constexpr int kMaxDraws = 100;      // of a split in which every class has a row to train on
constexpr int kOverlapDraws = 500;  // samples per class
constexpr int64_t kOverlapDims = 2;

// Test rows of every fold of a trial.
std::vector<std::vector<char>> draw_tests(const IccCompareInput& input,
                                          const IccCompareOptions& options, Random& random) {
  const size_t n = input.classes.size();
  std::vector<std::vector<char>> tests;
  if (options.cv > 0) {
    const std::vector<int> folds = make_folds(input.classes, input.groups, options.cv, random);
    for (int f = 0; f < options.cv; ++f) {
      tests.emplace_back(n);
      for (size_t i = 0; i < n; ++i) tests.back()[i] = folds[i] == f;
    }
    return tests;
  }
  std::vector<int> names(input.groups.begin(), input.groups.end());
  if (names.empty()) {
    names.resize(n);
    std::iota(names.begin(), names.end(), 0);
  }
  std::vector<int> distinct = names;
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  random.shuffle(std::span<int>(distinct));
  const auto wanted = static_cast<size_t>(
      std::max(1.0, std::round(options.holdout * static_cast<double>(distinct.size()))));
  std::vector<int> chosen(distinct.begin(), distinct.begin() + std::min(wanted, distinct.size()));
  std::ranges::sort(chosen);
  tests.emplace_back(n);
  for (size_t i = 0; i < n; ++i) tests[0][i] = std::ranges::binary_search(chosen, names[i]);
  return tests;
}

// Keeps `num_train` random rows of the training part.
void thin_training(TrainTest& parts, int64_t num_train, Random& random) {
  if (num_train <= 0 || num_train >= parts.train.rows()) return;
  std::vector<int64_t> rows = random.sample_without_replacement(parts.train.rows(), num_train);
  std::ranges::sort(rows);
  Matrix<float> kept(num_train, parts.train.cols());
  std::vector<int> classes, groups;
  for (int64_t r = 0; r < num_train; ++r) {
    std::copy_n(parts.train.row(rows[r]), kept.cols(), kept.row(r));
    classes.push_back(parts.train_classes[rows[r]]);
    if (!parts.train_groups.empty()) groups.push_back(parts.train_groups[rows[r]]);
  }
  parts.train = std::move(kept);
  parts.train_classes = std::move(classes);
  parts.train_groups = std::move(groups);
}

bool has_all_classes(const std::vector<int>& train, std::span<const int> classes) {
  std::vector<char> is_seen(*std::ranges::max_element(classes) + size_t{1}, 0);
  for (const int c : train) is_seen[c] = 1;
  return std::ranges::find(is_seen, 0) == is_seen.end();
}

// Overlap of the classes on the first principal axes, as the sub-classes describe them.
double overlap_of(const TrainTest& parts, const IccClassifierResult& result) {
  const int64_t dims = std::min({kOverlapDims, parts.train.rows(), parts.train.cols()});
  const Matrix<float> plane = project(fit_pca(parts.train, static_cast<int>(dims)), parts.train);
  return mean_overlap(
      fit_quadratic(widen(plane), result.subclasses, result.model.classifier.class_from_subclass),
      kOverlapDraws);
}

struct Tally {
  double accuracy = 0, seconds = 0, subclasses = 0, overlap = 0, count = 0;
};

void run_fold(const TrainTest& parts, const std::vector<IccContender>& contenders,
              std::vector<Tally>& tallies, Monitor& monitor) {
  for (size_t c = 0; c < contenders.size(); ++c) {
    if (monitor.should_stop()) return;
    const Stopwatch watch;
    const IccClassifierResult result = fit_icc_classifier(
        {parts.train, parts.train_classes, parts.train_groups}, contenders[c].options, monitor);
    const std::vector<int> predicted = predict(result.model, parts.test);
    tallies[c].seconds += watch.seconds();
    tallies[c].accuracy += accuracy_of(predicted, parts.test_classes);
    tallies[c].subclasses +=
        static_cast<double>(result.model.classifier.class_from_subclass.size());
    tallies[c].overlap += overlap_of(parts, result);
    ++tallies[c].count;
  }
}

void finish_rows(IccComparison& comparison) {
  const auto trials = static_cast<double>(comparison.num_trials);
  for (IccCompareRow& row : comparison.rows) {
    row.mean = std::accumulate(row.accuracies.begin(), row.accuracies.end(), 0.0) / trials;
    double squares = 0;
    for (const double a : row.accuracies) squares += (a - row.mean) * (a - row.mean);
    row.deviation = trials > 1 ? std::sqrt(squares / (trials - 1)) : 0;
    for (double* value : {&row.seconds, &row.subclasses, &row.overlap}) *value /= trials;
    if (trials > 1 && comparison.is_complete())
      row.p_value = paired_t_test(comparison.rows.back().accuracies, row.accuracies).p_value;
  }
}

void check_options(const IccCompareInput& input, const IccCompareOptions& options) {
  validate_options(options);
  require(options.cv == 0 || options.cv >= 2, [&] {
    return fmt::format("cv is {}, must be at least 2, or 0 to hold out a fraction of the samples",
                       options.cv);
  });
  require(options.cv > 0 || (options.holdout > 0 && options.holdout < 1), [&] {
    return fmt::format("holdout is {}, must be above 0 and below 1", options.holdout);
  });
  require(!input.points.empty(), "compare_icc: there are no points");
  require(input.groups.empty() || input.groups.size() == input.classes.size(), [&] {
    return fmt::format("there are {} for {}: they must match",
                       counted(input.groups.size(), "group"),
                       counted(input.classes.size(), "point"));
  });
  const std::vector<int64_t> counts = count_classes(input.classes, input.points.rows());
  const auto smallest = std::ranges::min_element(counts);
  require(*smallest >= 2, [&] {
    return fmt::format("class {} has {}: at least 2 are needed, one to train and one to test",
                       smallest - counts.begin(), counted(*smallest, "sample"));
  });
}

// One trial: splits are drawn until every class has a sample to train on; all contenders are tested
// on them.
std::vector<Tally> run_trial(const IccCompareInput& input, const IccCompareOptions& options,
                             const std::vector<IccContender>& contenders, Random& random,
                             Monitor& monitor) {
  std::vector<Tally> tallies(contenders.size());
  TrainTest parts;
  int draws = 0;
  for (bool is_drawn = false; !is_drawn && draws < kMaxDraws; ++draws) {
    is_drawn = true;
    tallies.assign(contenders.size(), {});
    for (const std::vector<char>& is_test : draw_tests(input, options, random)) {
      if (!split_rows(input.points, input.classes, input.groups, is_test, parts)) {
        is_drawn = options.cv > 0;  // a fold that cannot be tested is left out
        continue;
      }
      if (options.cv == 0) thin_training(parts, options.num_train, random);
      if (!has_all_classes(parts.train_classes, input.classes)) {
        is_drawn = false;
        continue;
      }
      run_fold(parts, contenders, tallies, monitor);
    }
  }
  return tallies;
}

}  // namespace

std::vector<IccContender> paper_contenders(const IccClassifierOptions& icc) {
  std::vector<IccContender> all = {
      {"PCA only", icc}, {"LDA only", icc}, {"EM + LDA", icc}, {"ICC + LDA", icc}};
  all[0].options.split = all[1].options.split = IccSplit::None;
  all[0].options.automatic = all[1].options.automatic = false;
  all[0].options.reduce = IccReduce::Pca;
  all[0].options.reduce_dims = 2;
  all[1].options.reduce = IccReduce::Lda;
  all[2].options.split = IccSplit::Em;
  all[3].options.split = IccSplit::Icc;
  if (icc.reduce == IccReduce::None) all[2].name = "EM", all[3].name = "ICC";
  return all;
}

IccComparison compare_icc(const IccCompareInput& input, const IccCompareOptions& options,
                          Monitor& monitor) {
  check_options(input, options);
  const std::vector<IccContender> contenders =
      options.contenders.empty() ? paper_contenders(options.classifier) : options.contenders;
  IccComparison comparison;
  comparison.num_wanted = options.repeat;
  comparison.rows.resize(contenders.size());
  for (size_t c = 0; c < contenders.size(); ++c) comparison.rows[c].name = contenders[c].name;
  const Random root(options.classifier.icc.seed);
  for (int trial = 0; trial < options.repeat; ++trial) {
    monitor.on_progress("trials", trial, options.repeat);
    Random random = root.child(static_cast<uint64_t>(trial));
    const std::vector<Tally> tallies = run_trial(input, options, contenders, random, monitor);
    if (const StopReason reason = monitor.stop_reason(); reason != StopReason::None) {
      comparison.termination = termination_from(reason);
      break;
    }
    require(tallies[0].count > 0,
            "the classes are too small: no split leaves a sample of every class to train on");
    for (size_t c = 0; c < contenders.size(); ++c) {
      IccCompareRow& row = comparison.rows[c];
      row.accuracies.push_back(tallies[c].accuracy / tallies[c].count);
      row.seconds += tallies[c].seconds / tallies[c].count;
      row.subclasses += tallies[c].subclasses / tallies[c].count;
      row.overlap += tallies[c].overlap / tallies[c].count;
    }
    ++comparison.num_trials;
  }
  if (comparison.num_trials > 0) finish_rows(comparison);
  return comparison;
}

std::string comparison_text(const IccComparison& comparison) {
  if (comparison.num_trials == 0) return "";
  std::string text = fmt::format("{:<10} {:>10} {:>6} {:>10} {:>11} {:>8} {:>9}\n", "method",
                                 "accuracy %", "std", "p", "sub-classes", "overlap", "seconds");
  for (const IccCompareRow& row : comparison.rows) {
    const bool is_icc = &row == &comparison.rows.back();
    text +=
        fmt::format("{:<10} {:>10.1f} {:>6.1f} {:>10} {:>11.1f} {:>8.4f} {:>9.4f}\n", row.name,
                    100 * row.mean, 100 * row.deviation,
                    is_icc || !comparison.is_complete() ? "-" : fmt::format("{:.2g}", row.p_value),
                    row.subclasses, row.overlap, row.seconds);
  }
  return text;
}

}  // namespace milieu

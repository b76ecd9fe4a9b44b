// SPDX-License-Identifier: Apache-2.0
// Classifiers on sets that chose no default of icc, and on those that did, with the classes of the
// set and with classes of which some are unions. bench/quality/icc_rivals.py adds scikit-learn's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/classic/gmm/gmm.h"
#include "milieu/classify/class_labels.h"
#include "milieu/classify/lda.h"
#include "milieu/classify/nearest.h"
#include "milieu/classify/quadratic.h"
#include "milieu/icc/icc_classifier.h"
#include "milieu/linalg/pca.h"
#include "milieu/metrics/paired_test.h"
#include "reproduce/dcp/dcp.h"
#include "reproduce/deep/deep.h"
#include "reproduce/icc.h"
#include "reproduce/icc/held_out_problems.h"

namespace milieu::cli {

namespace {

constexpr int kTrials = 3;
constexpr int kFewDims = 12, kManyDims = 40, kMixtureParts = 3;
constexpr int64_t kMostQuadraticDims = 300;

const std::vector<std::string>& method_names() {
  static const std::vector<std::string> names = {"LDA",
                                                 "QDA",
                                                 "QDA after PCA to 40",
                                                 "QDA after PCA to 12",
                                                 "nearest neighbour",
                                                 "mixture of 3 per class in 12 dimensions",
                                                 "icc classify",
                                                 "icc classify --auto"};
  return names;
}

double accuracy(const std::vector<int>& predicted, const std::vector<int>& classes) {
  double right = 0;
  for (size_t i = 0; i < classes.size(); ++i) right += predicted[i] == classes[i];
  return right / static_cast<double>(classes.size());
}

struct Reduced {
  Matrix<float> train, test;
};

Reduced reduce(const ClassifierProblem& problem, int dims) {
  const int64_t most = std::min(problem.train.rows(), problem.train.cols());
  const Pca pca = fit_pca(problem.train, static_cast<int>(std::min<int64_t>(dims, most)));
  return {project(pca, problem.train), project(pca, problem.test)};
}

double quadratic_accuracy(FloatView train, FloatView test, const ClassifierProblem& problem) {
  QuadraticOptions options;
  options.shrinkage = 0;
  const QuadraticModel model = fit_quadratic(widen(train), problem.train_classes, {}, options);
  return accuracy(predict(model, widen(test)), problem.test_classes);
}

// A Gaussian mixture for the density of each class.
double mixture_accuracy(const ClassifierProblem& problem, uint64_t seed) {
  const Reduced reduced = reduce(problem, kFewDims);
  const std::vector<int64_t> counts =
      count_classes(problem.train_classes, static_cast<int64_t>(problem.train_classes.size()));
  std::vector<int> best(problem.test_classes.size());
  std::vector<double> highest(best.size(), -INFINITY);
  for (size_t c = 0; c < counts.size(); ++c) {
    std::vector<int64_t> rows;
    for (size_t i = 0; i < problem.train_classes.size(); ++i)
      if (problem.train_classes[i] == static_cast<int>(c)) rows.push_back(static_cast<int64_t>(i));
    GmmOptions options;
    options.num_clusters = static_cast<int>(std::min<int64_t>(kMixtureParts, counts[c]));
    options.covariance = GmmCovariance::Full;
    options.regularization = 1e-3;
    options.seed = seed;
    const Matrix<float> own = gather_rows(reduced.train, rows);
    const std::vector<double> scores = log_densities(fit_gmm({own}, options).model, reduced.test);
    for (size_t i = 0; i < scores.size(); ++i)
      if (scores[i] + std::log(counts[c]) > highest[i]) {
        highest[i] = scores[i] + std::log(counts[c]);
        best[i] = static_cast<int>(c);
      }
  }
  return accuracy(best, problem.test_classes);
}

double icc_accuracy(const ClassifierProblem& problem, bool is_automatic, const ReproduceRun& run) {
  IccClassifierOptions options;
  options.automatic = is_automatic;
  options.icc.seed = run.options().seed;
  options.icc.num_threads = run.options().num_threads;
  const IccClassifierResult fitted =
      fit_icc_classifier({problem.train, problem.train_classes}, options, run.monitor());
  return accuracy(predict(fitted.model, problem.test), problem.test_classes);
}

// Accuracies of all methods, then the CPU seconds of --auto.
std::vector<double> run_problem(const ClassifierProblem& problem, const ReproduceRun& run) {
  std::vector<double> figures;
  const LdaModel lda = fit_lda(widen(problem.train), problem.train_classes);
  figures.push_back(accuracy(predict(lda, widen(problem.test)), problem.test_classes));
  figures.push_back(problem.train.cols() <= kMostQuadraticDims
                        ? quadratic_accuracy(problem.train, problem.test, problem)
                        : std::nan(""));
  for (const int dims : {kManyDims, kFewDims}) {
    const Reduced reduced = reduce(problem, dims);
    figures.push_back(quadratic_accuracy(reduced.train, reduced.test, problem));
  }
  const NearestModel nearest = fit_nearest(problem.train, problem.train_classes);
  figures.push_back(accuracy(predict(nearest, problem.test), problem.test_classes));
  figures.push_back(mixture_accuracy(problem, run.options().seed));
  figures.push_back(icc_accuracy(problem, false, run));
  const double before = cpu_seconds();
  figures.push_back(icc_accuracy(problem, true, run));
  figures.push_back(cpu_seconds() - before);
  return figures;
}

struct Row {
  std::string set;
  bool has_chosen = false;
  bool is_merged = false;
  std::vector<double> figures;
};

void show(const std::vector<Row>& rows, bool has_chosen, bool is_merged, const ReproduceRun& run) {
  std::vector<std::string> sets;
  std::vector<const Row*> shown;
  for (const Row& row : rows) {
    if (row.has_chosen != has_chosen || row.is_merged != is_merged) continue;
    shown.push_back(&row);
    if (std::ranges::find(sets, row.set) == sets.end()) sets.push_back(row.set);
  }
  const auto column = [&](size_t figure, const std::string& set) {
    std::vector<double> values;
    for (const Row* row : shown)
      if (set.empty() || row->set == set) values.push_back(row->figures[figure]);
    return values;
  };
  const size_t last = method_names().size() - 1;
  ResultTable table{fmt::format("icc_held_out_{}_{}", has_chosen ? "chosen" : "reported",
                                is_merged ? "unions" : "classes"),
                    fmt::format("{}, {}: accuracy in %",
                                has_chosen ? "Sets that chose the candidates of --auto"
                                           : "Sets that chose nothing",
                                is_merged ? "some classes are unions" : "their own classes"),
                    {"method"},
                    {},
                    {}};
  table.columns.insert(table.columns.end(), sets.begin(), sets.end());
  for (const char* name : {"all", "--auto minus it"}) table.columns.emplace_back(name);
  for (size_t m = 0; m <= last; ++m) {
    std::vector<std::string> cells = {method_names()[m]};
    for (const std::string& set : sets) {
      const double mean = mean_of(column(m, set));
      cells.push_back(std::isnan(mean) ? "-" : percent_text(mean));
    }
    const std::vector<double> all = column(m, ""), own = column(last, "");
    const bool is_complete = std::ranges::none_of(all, [](double v) { return std::isnan(v); });
    cells.push_back(is_complete ? percent_text(mean_of(all)) : "-");
    if (!is_complete || m == last) {
      cells.emplace_back("-");
    } else {
      const PairedTest test = paired_t_test(own, all);
      cells.push_back(fmt::format("{:+.1f} (p {:.2g})", 100 * test.mean_difference, test.p_value));
    }
    table.rows.push_back(std::move(cells));
  }
  table.notes.push_back(fmt::format("{} problems; CPU seconds of one --auto: {:.1f} on average",
                                    shown.size(), mean_of(column(last + 1, ""))));
  run.show(table);
}

}  // namespace

void reproduce_icc_held_out(ReproduceRun& run) {
  const std::vector<ClassifierSet> sets = classifier_sets(run);
  run.keep_progress("icc_held_out");
  std::vector<Row> rows;
  for (const ClassifierSet& set : sets) {
    const LabelledRows data = set.load();
    if (run.is_stopped()) return;
    for (const bool is_merged : {false, true})
      for (int trial = 0; trial < run.num_runs(kTrials); ++trial) {
        const std::string name =
            fmt::format("{}, {}, {}", data.name, is_merged ? "unions" : "classes", trial);
        run.say(name);
        const ClassifierProblem problem = make_problem(
            data, is_merged, Random(run.options().seed).child(static_cast<uint64_t>(trial)));
        rows.push_back(
            {data.name, set.has_chosen, is_merged,
             run.piece("icc held-out " + name, [&] { return run_problem(problem, run); })});
        if (run.is_stopped()) return;
        export_problem(run, name, problem,
                       std::span(rows.back().figures).subspan(method_names().size() - 2, 2));
      }
  }
  for (const bool has_chosen : {true, false})
    for (const bool is_merged : {false, true}) show(rows, has_chosen, is_merged, run);
}

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// Problem: classes from samples whose class densities have several modes.
// Find [Yu13, Algorithm 4]: sub-classes L of the training set W; LDA of (W, L); a quadratic
//   classifier of the projected sub-classes; the class of a test sample from the log-sum over the
//   sub-classes of each class.
// Conventions: sub-classes that a mixture leaves empty do not exist; priors are frequencies.
// See: docs/algorithms/icc.md.
#include "milieu/icc/icc_classifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/classify/class_labels.h"
#include "milieu/classify/lda.h"
#include "milieu/icc/icc_classifier_internal.h"
#include "milieu/linalg/finite.h"
#include "milieu/linalg/pca.h"

namespace milieu {

namespace {

int parse_em_count(const std::string& text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  require(error == std::errc() && end == text.data() + text.size() && count >= 1, [&] {
    return fmt::format("em_count is '{}', must be a whole number of at least 1, or icc", text);
  });
  return count;
}

Subclasses whole_classes(std::span<const int> classes, int num_classes) {
  Subclasses whole{{classes.begin(), classes.end()},
                   std::vector<int>(num_classes),
                   std::vector<int64_t>(num_classes, 1)};
  std::iota(whole.class_from_subclass.begin(), whole.class_from_subclass.end(), 0);
  return whole;
}

// The rows of one class of a matrix of coordinates.
Matrix<float> rows_of_class(const Matrix<double>& coordinates, std::span<const int> classes,
                            int own) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < classes.size(); ++i)
    if (classes[i] == own) rows.push_back(static_cast<int64_t>(i));
  Matrix<float> points(static_cast<int64_t>(rows.size()), coordinates.cols());
  for (int64_t r = 0; r < points.rows(); ++r)
    std::copy_n(coordinates.row(rows[r]), points.cols(), points.row(r));
  return points;
}

// Empty components are dropped: labels become 0, 1, ... of those in use. Returns how many.
int drop_empty(std::vector<int>& labels, int count) {
  std::vector<int> number(count, -1);
  for (const int label : labels) number[label] = 0;
  int used = 0;
  for (int& n : number)
    if (n == 0) n = used++;
  for (int& label : labels) label = number[label];
  return used;
}

// A Gaussian mixture of each class in the space of ICC's densities [Yu13, section 3.1].
Subclasses split_by_em(const IccClassifierInput& input, const IccClassifierOptions& options,
                       const Matrix<double>& coordinates, const std::vector<int64_t>& counts) {
  Subclasses out;
  out.labels.assign(input.points.rows(), 0);
  int first = 0;
  for (size_t c = 0; c < counts.size(); ++c) {
    const Matrix<float> points = rows_of_class(coordinates, input.classes, static_cast<int>(c));
    GmmOptions em;
    em.num_clusters = static_cast<int>(std::min<int64_t>(counts[c], points.rows()));
    em.covariance = GmmCovariance::Full;
    em.init = options.init;
    em.regularization = 1e-4;
    em.seed = options.icc.seed;
    em.num_threads = options.icc.num_threads;
    std::vector<int> labels = fit_gmm({points, {}, {}}, em).labels;
    const int used = drop_empty(labels, em.num_clusters);
    size_t next = 0;
    for (size_t i = 0; i < input.classes.size(); ++i)
      if (input.classes[i] == static_cast<int>(c)) out.labels[i] = first + labels[next++];
    out.class_from_subclass.insert(out.class_from_subclass.end(), used, static_cast<int>(c));
    out.num_subclasses.push_back(used);
    first += used;
  }
  return out;
}

Subclasses from_icc(IccResult result) {
  // Sub-classes of ICC always have samples: small ones have joined others.
  Subclasses out{std::move(result.labels), result.model.class_from_subclass(), {}};
  out.num_subclasses.assign(result.model.subclasses.begin(), result.model.subclasses.end());
  return out;
}

struct Reduction {
  Matrix<double> axes;
  std::vector<double> origin;
};

Reduction centred_at(Matrix<double> axes, std::span<const double> mean) {
  Reduction reduction{std::move(axes), {}};
  for (int64_t a = 0; a < reduction.axes.rows(); ++a) {
    double sum = 0;
    for (size_t j = 0; j < mean.size(); ++j) sum += reduction.axes(a, j) * mean[j];
    reduction.origin.push_back(-sum);
  }
  return reduction;
}

// [Yu13, Algorithm 4, line 8].
Reduction fit_reduction(FloatView points, const std::vector<int>& subclasses,
                        const IccClassifierOptions& options) {
  const int64_t d = points.cols();
  if (options.reduce == IccReduce::Lda) {
    const LdaModel lda = fit_lda(widen(points), subclasses, {.num_dims = options.reduce_dims});
    return centred_at(lda.components, lda.mean);
  }
  if (options.reduce == IccReduce::Pca) {
    const int64_t wanted = options.reduce_dims > 0 ? options.reduce_dims : 2;
    const Pca pca = fit_pca(points, static_cast<int>(std::min({wanted, d, points.rows()})));
    return centred_at(pca.components, pca.mean);
  }
  Matrix<double> axes(d, d);
  for (int64_t j = 0; j < d; ++j) axes(j, j) = 1;
  return {std::move(axes), std::vector<double>(d, 0.0)};
}

void check_model(const IccClassifierModel& model, FloatView points, int num_threads) {
  if (model.axes.rows() != model.classifier.means.cols() ||
      static_cast<int64_t>(model.origin.size()) != model.axes.rows())
    throw DataError("the arrays of the icc classifier are inconsistent");
  require(points.cols() == model.axes.cols(), [&] {
    return fmt::format("points have {}, the classifier was fitted on {}",
                       counted(points.cols(), "column"), model.axes.cols());
  });
  if (const auto place = find_non_finite(points, num_threads))
    throw DataError(fmt::format("points has {} at row {}, column {} (counted from 0)",
                                points(place->row, place->column), place->row, place->column));
}

}  // namespace

namespace internal {

double accuracy_of(std::span<const int> predicted, std::span<const int> classes) {
  int64_t right = 0;
  for (size_t i = 0; i < classes.size(); ++i) right += predicted[i] == classes[i];
  return static_cast<double>(right) / static_cast<double>(classes.size());
}

IccClassifierModel fit_on_subclasses(const IccClassifierInput& input, const Subclasses& subclasses,
                                     const IccClassifierOptions& options) {
  Reduction reduction = fit_reduction(input.points, subclasses.labels, options);
  IccClassifierModel model{std::move(reduction.axes), std::move(reduction.origin), {}, 0};
  model.takes_best = options.rule == IccRule::Best;
  QuadraticOptions quadratic;
  quadratic.shrinkage = options.shrinkage;
  quadratic.priors = options.priors;
  model.classifier = fit_quadratic(project(model, input.points), subclasses.labels,
                                   subclasses.class_from_subclass, quadratic);
  return model;
}

}  // namespace internal

namespace {

Subclasses split_classes(const IccClassifierInput& input, const IccClassifierOptions& options,
                         Monitor& monitor) {
  const std::vector<int64_t> counts = count_classes(input.classes, input.points.rows());
  if (options.split == IccSplit::None)
    return whole_classes(input.classes, static_cast<int>(counts.size()));
  IccOptions icc = options.icc;
  const bool takes_count = options.split == IccSplit::Em && options.em_count != "icc";
  const int em_count = takes_count ? parse_em_count(options.em_count) : 0;
  if (takes_count && icc.climb != IccClimb::Free) {  // only the projection is needed
    icc.grid = "3";
    icc.bandwidth = "0.5";
    icc.climb = IccClimb::Basin;
    icc.bootstrap = 0;
  }
  IccResult result = fit_icc({input.points, input.classes, {}, {}}, icc, monitor);
  if (options.split == IccSplit::Icc) return from_icc(std::move(result));
  const Matrix<double> coordinates = project(result.model, input.points);
  std::vector<int64_t> wanted(counts.size(), em_count);
  if (!takes_count) wanted.assign(result.model.subclasses.begin(), result.model.subclasses.end());
  return split_by_em(input, options, coordinates, wanted);
}

// Sub-classes without samples are dropped and the others renumbered.
void drop_empty(Subclasses& subclasses) {
  std::vector<int> number(subclasses.class_from_subclass.size(), -1);
  for (const int label : subclasses.labels) number[label] = 0;
  Subclasses kept{{}, {}, std::vector<int64_t>(subclasses.num_subclasses.size(), 0)};
  for (size_t s = 0; s < number.size(); ++s) {
    if (number[s] < 0) continue;
    number[s] = static_cast<int>(kept.class_from_subclass.size());
    kept.class_from_subclass.push_back(subclasses.class_from_subclass[s]);
    ++kept.num_subclasses[subclasses.class_from_subclass[s]];
  }
  for (const int label : subclasses.labels) kept.labels.push_back(number[label]);
  subclasses = std::move(kept);
}

// One round: true when a sample has moved.
bool move_samples(const IccClassifierInput& input, const IccClassifierOptions& options,
                  Subclasses& subclasses) {
  const IccClassifierModel model = internal::fit_on_subclasses(input, subclasses, options);
  const Matrix<double> scores =
      subclass_scores(model.classifier, project(model, input.points), options.icc.num_threads);
  bool has_moved = false;
  for (size_t i = 0; i < subclasses.labels.size(); ++i) {
    int best = subclasses.labels[i];
    for (int64_t s = 0; s < scores.cols(); ++s)
      if (subclasses.class_from_subclass[s] == input.classes[i] &&
          scores(static_cast<int64_t>(i), s) > scores(static_cast<int64_t>(i), best))
        best = static_cast<int>(s);
    has_moved |= best != subclasses.labels[i];
    subclasses.labels[i] = best;
  }
  drop_empty(subclasses);
  return has_moved;
}

}  // namespace

Subclasses find_subclasses(const IccClassifierInput& input, const IccClassifierOptions& options,
                           Monitor& monitor) {
  Subclasses subclasses = split_classes(input, options, monitor);
  for (int round = 0; round < options.refine && !monitor.should_stop(); ++round)
    if (!move_samples(input, options, subclasses)) break;
  return subclasses;
}

IccClassifierResult fit_icc_classifier(const IccClassifierInput& input,
                                       const IccClassifierOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  validate_options(options);
  require(!input.points.empty(), "fit_icc_classifier: there are no points");
  const std::vector<int64_t> counts = count_classes(input.classes, input.points.rows());
  IccClassifierOptions chosen = options;
  IccClassifierResult result;
  RunSummary& summary = result.summary;
  if (options.automatic) {
    const IccClassifierChoice choice = choose_icc_options(input, options, monitor);
    chosen = choice.options;
    summary.extra.emplace_back("chosen", choice.text);
    summary.extra.emplace_back("cross_validated_accuracy", choice.accuracy);
  }
  Subclasses subclasses = find_subclasses(input, chosen, monitor);
  result.model = internal::fit_on_subclasses(input, subclasses, chosen);
  result.labels = predict(result.model, input.points, options.icc.num_threads);
  summary.extra.emplace(summary.extra.begin(), "subclasses", subclasses.num_subclasses);
  result.subclasses = std::move(subclasses.labels);
  summary.method = "icc_classifier";
  summary.version = version();
  summary.seed = options.icc.seed;
  summary.n = input.points.rows();
  summary.d = input.points.cols();
  summary.iterations = 1;
  summary.objective = internal::accuracy_of(result.labels, input.classes);
  const StopReason reason = monitor.stop_reason();
  summary.termination =
      reason == StopReason::None ? Termination::Converged : termination_from(reason);
  summary.message = reason == StopReason::None ? "fitted" : "stopped early: the rest is unchanged";
  set_sizes(summary, result.labels, static_cast<int>(counts.size()));
  summary.seconds = watch.seconds();
  return result;
}

Matrix<double> project(const IccClassifierModel& model, FloatView points) {
  Matrix<double> z(points.rows(), model.axes.rows());
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t a = 0; a < model.axes.rows(); ++a) {
      double sum = model.origin[a];
      for (int64_t j = 0; j < points.cols(); ++j) sum += model.axes(a, j) * points(i, j);
      z(i, a) = sum;
    }
  return z;
}

std::vector<int> predict(const IccClassifierModel& model, FloatView points, int num_threads) {
  check_model(model, points, num_threads);
  const Matrix<double> z = project(model, points);
  return model.takes_best ? predict_by_best(model.classifier, z, num_threads)
                          : predict(model.classifier, z, num_threads);
}

Matrix<double> predict_probabilities(const IccClassifierModel& model, FloatView points,
                                     int num_threads) {
  check_model(model, points, num_threads);
  return predict_probabilities(model.classifier, project(model, points), num_threads);
}

}  // namespace milieu

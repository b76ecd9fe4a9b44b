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

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/classify/class_labels.h"
#include "milieu/classify/lda.h"
#include "milieu/icc/icc_classifier_internal.h"
#include "milieu/linalg/finite.h"
#include "milieu/linalg/pca.h"

namespace milieu {

namespace {

constexpr double kHeldVariance = 0.9;
constexpr int64_t kManyColumns = 12;  // a plane seldom holds the sub-classes of more

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

// Principal axes: as many as given, or those that hold 90 % of the variance, but no more than a
// third of the samples of a sub-class on average, so that a covariance can be estimated.
Pca reduce_by_pca(FloatView points, const std::vector<int>& subclasses, int64_t given) {
  const int64_t most = std::min(points.rows(), points.cols());
  if (given > 0) return fit_pca(points, static_cast<int>(std::min(given, most)));
  const int64_t num_subclasses = 1 + *std::ranges::max_element(subclasses);
  const int64_t affordable = std::max<int64_t>(2, points.rows() / (3 * num_subclasses));
  Pca pca = fit_pca(points, static_cast<int>(std::min(affordable, most)));
  double held = 0;
  int64_t kept = 0;
  while (kept < pca.components.rows() && held < kHeldVariance * pca.total_variance)
    held += pca.explained_variance[kept++];
  kept = std::max<int64_t>(kept, std::min<int64_t>(2, pca.components.rows()));
  pca.components = Matrix<double>(pca.components.view().rows_between(0, kept));
  return pca;
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
    const Pca pca = reduce_by_pca(points, subclasses, options.reduce_dims);
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

// The axes of `second` after those of a PCA.
void compose(const Pca& first, IccClassifierModel& second) {
  const int64_t q = second.axes.rows(), d = first.components.cols();
  Matrix<double> axes(q, d);
  for (int64_t a = 0; a < q; ++a) {
    for (int64_t m = 0; m < second.axes.cols(); ++m)
      for (int64_t j = 0; j < d; ++j) axes(a, j) += second.axes(a, m) * first.components(m, j);
    for (int64_t j = 0; j < d; ++j) second.origin[a] -= axes(a, j) * first.mean[j];
  }
  second.axes = std::move(axes);
}

// With `pca_dims` everything happens on the first principal axes.
Subclasses fit_model(const IccClassifierInput& input, const IccClassifierOptions& options,
                     IccClassifierModel& model, Monitor& monitor) {
  const int64_t most = std::min(input.points.rows(), input.points.cols());
  if (options.pca_dims == 0 || options.pca_dims >= most) {
    Subclasses subclasses = find_subclasses(input, options, monitor);
    model = internal::fit_on_subclasses(input, subclasses, options);
    return subclasses;
  }
  const Pca pca = fit_pca(input.points, options.pca_dims);
  const Matrix<float> kept = project(pca, input.points);
  const IccClassifierInput reduced{kept, input.classes, input.groups};
  Subclasses subclasses = find_subclasses(reduced, options, monitor);
  model = internal::fit_on_subclasses(reduced, subclasses, options);
  compose(pca, model);
  return subclasses;
}

}  // namespace

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
    if (choice.is_complete) summary.extra.emplace_back("cross_validated_accuracy", choice.accuracy);
  }
  Subclasses subclasses = fit_model(input, chosen, result.model, monitor);
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
  if (!options.automatic && options.split == IccSplit::Icc && summary.d > kManyColumns &&
      options.icc.climb != IccClimb::Free)
    summary.warnings.push_back(fmt::format(
        "classes are split in {} of {}: --auto also looks elsewhere and is more accurate "
        "for so many columns",
        counted(options.icc.num_dims, "dimension"), counted(summary.d, "column")));
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

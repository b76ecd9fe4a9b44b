// SPDX-License-Identifier: Apache-2.0
// A classifier with ICC before it [Yu13, Algorithm 4]: classes are split into sub-classes, linear
// discriminant analysis finds axes that separate the sub-classes, a quadratic classifier
// distinguishes them, and sub-classes are mapped back to classes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/classify/quadratic.h"
#include "milieu/icc/icc.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// Where sub-classes come from: ICC, a Gaussian mixture of each class, or classes are not split.
enum class IccSplit { Icc, Em, None };
// The input of the quadratic classifier: discriminant axes of the sub-classes, the first principal
// axes, or the features unchanged.
enum class IccReduce { Lda, Pca, None };

// The class of a sample: of the largest sum over its sub-classes, or of the best sub-class, as in
// [Yu13, Algorithm 4, line 11].
enum class IccRule { Sum, Best };

struct IccClassifierOptions {
  IccOptions icc;
  IccSplit split = IccSplit::Icc;
  // Components per class with split em: a number, one per class ("1,3,2"), or "icc": as many as ICC
  // finds.
  std::string em_count = "2";
  GmmInit init = GmmInit::KMeans;  // how the mixtures of split em are initialised
  // Rounds in which every sample moves to the sub-class of its class that fits it best under the
  // classifier, as in mixture discriminant analysis [Hastie96] with one sub-class per sample.
  int refine = 0;
  int pca_dims = 0;  // principal axes kept before everything else; 0: the features as they are
  IccReduce reduce = IccReduce::Lda;
  // 0: lda min(sub-classes - 1, d); pca those that hold 90 % of the variance, at most a third of
  // the samples of a sub-class on average
  int reduce_dims = 0;
  double shrinkage = 5;
  Priors priors = Priors::Frequency;
  IccRule rule = IccRule::Sum;
  // Cross-validation on the training set chooses the space and its dimensions, whether classes are
  // split there, and how: with split icc by ICC or by mixtures, with split em by mixtures.
  bool automatic = false;
  int folds = 5;             // of that cross-validation
  bool search_axes = false;  // it also chooses the axes: principal or discriminant, 1 and 2, 1 and
                             // 3 or 2 and 3
};

template <class Visitor>
void visit_fields(IccClassifierOptions& o, Visitor&& v) {
  visit_fields(o.icc, v);
  v("split", o.split,
    one_of<IccSplit>({{"icc", IccSplit::Icc}, {"em", IccSplit::Em}, {"none", IccSplit::None}}),
    "where sub-classes come from: icc, a Gaussian mixture per class, or none");
  v("em_count", o.em_count, anything(),
    "components per class with --split em: a number, one per class such as 1,3,2, or icc for as "
    "many as icc finds");
  v("init", o.init,
    one_of<GmmInit>({{"kmeans", GmmInit::KMeans}, {"random", GmmInit::Random}})
        .former("k-means", GmmInit::KMeans)
        .alias("em-init"),
    "how the mixtures of --split em are initialised");
  v("refine", o.refine, at_least(0),
    "rounds in which each sample moves to the sub-class of its class that fits best");
  v("pca_dims", o.pca_dims, at_least(0),
    "principal axes to keep before everything else; 0 keeps the features as they are");
  v("reduce", o.reduce,
    one_of<IccReduce>(
        {{"lda", IccReduce::Lda}, {"pca", IccReduce::Pca}, {"none", IccReduce::None}}),
    "input of the quadratic classifier: discriminant axes, principal axes, or all features");
  v("reduce_dims", o.reduce_dims, at_least(0),
    "number of these axes; 0 means all that carry information with lda, and with pca those that "
    "hold 90 % of the variance, as far as the samples of a sub-class allow");
  v("shrinkage", o.shrinkage, at_least(0).advanced(),
    "weight of the pooled covariance in that of each sub-class, in samples");
  v("priors", o.priors,
    one_of<Priors>({{"frequency", Priors::Frequency}, {"uniform", Priors::Uniform}}).advanced(),
    "weight sub-classes by how often they occur, or all the same");
  v("rule", o.rule, one_of<IccRule>({{"sum", IccRule::Sum}, {"best", IccRule::Best}}).advanced(),
    "choose the class with the largest sum over sub-classes, or with the best sub-class (the "
    "paper)");
  v("auto", o.automatic, anything(),
    "choose the space, whether to split and how by cross-validation on the training set");
  v("search_axes", o.search_axes, anything(),
    "let --auto also try discriminant axes and the third axis");
  v("folds", o.folds, at_least(2).advanced(), "folds of the cross-validation of --auto");
}

struct IccClassifierInput {
  FloatView points;              // n x d, finite
  std::span<const int> classes;  // n, in [0, number of classes), each with a sample
  // n or empty: rows of a group (the words of one speaker) stay together in the cross-validation of
  // `automatic`.
  std::span<const int> groups = {};
};

// Scores are those of a quadratic classifier at axes x + origin.
struct IccClassifierModel {
  static constexpr std::string_view kKind = "icc_classifier";
  static constexpr int kFormatVersion = 1;
  Matrix<double> axes;         // q x d
  std::vector<double> origin;  // q
  QuadraticModel classifier;
  int takes_best = 0;  // 1: rule best
};

template <MaybeConst<IccClassifierModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("axes", m.axes);
  v("origin", m.origin);
  v("means", m.classifier.means);
  v("covariances", m.classifier.covariances);
  v("log_priors", m.classifier.log_priors);
  v("class_from_subclass", m.classifier.class_from_subclass);
  v("takes_best", m.takes_best);
}

struct IccClassifierResult {
  std::vector<int> labels;  // n: predicted classes of the training samples
  IccClassifierModel model;
  // objective: accuracy on the training samples. extra: `subclasses`, and with auto `chosen` and
  // `cross_validated_accuracy`.
  RunSummary summary;
  std::vector<int> subclasses;  // n: sub-classes of the training samples
};

// Throws what fit_icc throws; InvalidArgument also for samples without a class and an em_count that
// is not a number.
IccClassifierResult fit_icc_classifier(const IccClassifierInput& input,
                                       const IccClassifierOptions& options,
                                       Monitor& monitor = silent_monitor());

// What cross-validation on the samples chooses (see `automatic`): the options with that choice and
// `automatic` off.
struct IccClassifierChoice {
  IccClassifierOptions options;
  std::string text;  // "bandwidth 0.05, weight count", "no split", "em_count 3"
  double accuracy = 0;
  bool is_complete = true;  // false: stopped before all candidates were compared
};
IccClassifierChoice choose_icc_options(const IccClassifierInput& input,
                                       const IccClassifierOptions& options,
                                       Monitor& monitor = silent_monitor());

// Classes of new samples; ties go to the lowest class.
std::vector<int> predict(const IccClassifierModel& model, FloatView points, int num_threads = 0);
// n x classes; rows sum to 1.
Matrix<double> predict_probabilities(const IccClassifierModel& model, FloatView points,
                                     int num_threads = 0);
// The input of the quadratic classifier: n x q.
Matrix<double> project(const IccClassifierModel& model, FloatView points);

// Sub-classes by split of options: labels of the samples, class by class, and how many each class
// has. `coordinates` (n x p) are where mixtures are fitted: the space of ICC's densities.
struct Subclasses {
  std::vector<int> labels;
  std::vector<int> class_from_subclass;
  std::vector<int64_t> num_subclasses;  // per class
};
Subclasses find_subclasses(const IccClassifierInput& input, const IccClassifierOptions& options,
                           Monitor& monitor = silent_monitor());

}  // namespace milieu

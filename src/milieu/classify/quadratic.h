// SPDX-License-Identifier: Apache-2.0
// The quadratic classifier: a Gaussian for every class, or for every sub-class of a class. Its
// covariances are shrunk to the pooled one, so that small sub-classes stay usable [Friedman89].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

enum class Priors { Frequency, Uniform };

struct QuadraticOptions {
  // Covariances become (1 - a) S + a pooled with a = shrinkage / (shrinkage + samples of the
  // sub-class); at least 1/2 where there are no more samples than columns, 1 for a single sample.
  double shrinkage = 5;
  double ridge = 1e-6;  // this fraction of each column's pooled variance is added (1 where it is 0)
  // Of the sub-classes: their shares of the samples, or the same for all.
  Priors priors = Priors::Frequency;
};

struct QuadraticModel {
  Matrix<double> means;                  // sub-classes x d
  Matrix<double> covariances;            // sub-classes x (d d): row-major matrices
  std::vector<double> log_priors;        // sub-classes
  std::vector<int> class_from_subclass;  // sub-classes: the class each belongs to

  int num_classes() const;
};

// `subclasses` n labels 0, 1, ... each with a sample; `class_from_subclass` gives the class of each
// sub-class, and is empty where sub-classes are the classes. Covariances of sub-classes are divided
// by samples - 1, the pooled one by n. Throws InvalidArgument for sizes that do not match.
QuadraticModel fit_quadratic(DoubleView points, std::span<const int> subclasses,
                             std::span<const int> class_from_subclass = {},
                             const QuadraticOptions& options = {});

// n x sub-classes: log prior + log density, without the constant -(d/2) log 2 pi.
Matrix<double> subclass_scores(const QuadraticModel& model, DoubleView points, int num_threads = 1);
// n x classes: the log-sum of a class's sub-classes. The largest is the predicted class.
Matrix<double> class_scores(const QuadraticModel& model, DoubleView points, int num_threads = 1);
std::vector<int> predict(const QuadraticModel& model, DoubleView points, int num_threads = 1);
// The class of the highest-scoring sub-class, without the sum.
std::vector<int> predict_by_best(const QuadraticModel& model, DoubleView points,
                                 int num_threads = 1);
// n x classes; rows sum to 1.
Matrix<double> predict_probabilities(const QuadraticModel& model, DoubleView points,
                                     int num_threads = 1);

}  // namespace milieu

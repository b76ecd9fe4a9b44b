// SPDX-License-Identifier: Apache-2.0
// Fisher's linear discriminant analysis [Fisher36]: the directions in which class means differ most
// relative to the spread within the classes, and the nearest-mean classifier in these directions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct LdaOptions {
  // Directions kept; 0: all that carry information, min(classes - 1, d). More than that are
  // allowed up to d: the rest is whitened noise.
  int num_dims = 0;
  // Added to the within-class covariance: this fraction of each feature's variance within the
  // classes (over all samples where that is 0; 1 for a constant feature). Keeps it invertible; 0:
  // none, and a singular covariance is refused.
  double ridge = 1e-6;
};

// Rows V of `components` satisfy V Sw V^T = I, Sw being the pooled within-class covariance (scatter
// divided by n, ridge included); largest ratio of variances first. Sign: the entry of largest
// magnitude of each row is positive.
struct LdaModel {
  std::vector<double> mean;         // d: of all samples
  Matrix<double> components;        // num_dims x d
  std::vector<double> eigenvalues;  // num_dims: variance between classes along each row
  Matrix<double> class_means;       // classes x num_dims: projected
  std::vector<double> log_priors;   // classes: log of their shares of the samples
};

// `points` n x d, finite; `labels` n classes 0, 1, ... each with a sample. Throws InvalidArgument
// for sizes that do not match and, with ridge 0, for a within-class covariance that is singular.
LdaModel fit_lda(DoubleView points, std::span<const int> labels, const LdaOptions& options = {});

// Coordinates of rows along the components: n x num_dims, the mean of all samples at the origin.
Matrix<double> project(const LdaModel& model, DoubleView points);

// The class of highest posterior under one covariance for all classes, from the kept directions.
std::vector<int> predict(const LdaModel& model, DoubleView points);
// n x classes; rows sum to 1.
Matrix<double> predict_probabilities(const LdaModel& model, DoubleView points);

}  // namespace milieu

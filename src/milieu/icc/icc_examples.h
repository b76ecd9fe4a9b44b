// SPDX-License-Identifier: Apache-2.0
// The synthetic data of [Yu13]: the object between two bars of Figures 3 and 7, and Experiment 1.
// Drawn from any generator with uniform() in [0, 1) and normal(), so that golden cases and
// experiments share the code.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "milieu/linalg/matrix.h"

namespace milieu::internal {

struct IccExample {
  Matrix<float> points;
  std::vector<int> classes;
};

// n points: 60 % object, two crossed Gaussians about the origin, and 40 % context, two bars at -9
// and 9 [Yu13, Figure 3].
template <class Generator>
IccExample make_icc_figure7(Generator& random, int64_t n) {
  IccExample data{Matrix<float>(n, 2), std::vector<int>(n, 0)};
  const int64_t objects = n * 6 / 10;
  for (int64_t i = 0; i < n; ++i) {
    double x = 0, y = 0;
    if (i < objects) {
      const bool is_upright = i < objects / 2;
      x = std::sqrt(is_upright ? 10.0 : 60.0) * random.normal();
      y = std::sqrt(is_upright ? 40.0 : 10.0) * random.normal();
    } else {
      x = (i < objects + (n - objects) / 2 ? -9 : 9) + 1.2 * random.normal();
      y = 4 * random.normal();
      data.classes[i] = 1;
    }
    data.points(i, 0) = static_cast<float>(x);
    data.points(i, 1) = static_cast<float>(y);
  }
  return data;
}

// n points of three classes: three Gaussian signals and 27 noises, mixed by a random 30 x 30
// matrix [Yu13, section 3.1].
template <class Generator>
IccExample make_icc_experiment1(Generator& random, int64_t n) {
  constexpr int kDims = 30, kSignals = 3;
  // Means, and the lower triangles L of the covariances L L^T.
  static const double means[3][3] = {{8, 10, 0}, {8, 10, 0}, {0, 4, 0}};
  static const std::array<double, 3> covariances[3] = {{2, 3, 6}, {6, -3, 2}, {2, 0, 2}};
  Matrix<double> sources(n, kDims);
  IccExample data{Matrix<float>(n, kDims), std::vector<int>(n)};
  for (int64_t i = 0; i < n; ++i) {
    const int c = data.classes[i] = static_cast<int>(i % 3);
    const auto [xx, xy, yy] = covariances[c];
    const double a = random.normal(), b = random.normal(), e = random.normal();
    const double root = std::sqrt(xx), below = xy / root;
    sources(i, 0) = means[c][0] + root * a;
    sources(i, 1) = means[c][1] + below * a + std::sqrt(yy - below * below) * b;
    sources(i, 2) = means[c][2] + e;
    for (int j = kSignals; j < kDims; ++j) sources(i, j) = 0.2 * random.uniform();
  }
  Matrix<double> mix(kDims, kDims);
  for (double& entry : std::span(mix.data(), mix.size())) entry = 0.5 * random.uniform();
  for (int64_t i = 0; i < n; ++i)
    for (int j = 0; j < kDims; ++j) {
      double sum = 0;
      for (int k = 0; k < kDims; ++k) sum += sources(i, k) * mix(k, j);
      data.points(i, j) = static_cast<float>(sum);
    }
  return data;
}

}  // namespace milieu::internal

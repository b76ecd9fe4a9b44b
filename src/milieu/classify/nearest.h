// SPDX-License-Identifier: Apache-2.0
// The nearest-neighbour classifier: a sample takes the class of most of its k nearest training
// samples [Cover67].
#pragma once

#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct NearestModel {
  Matrix<float> points;     // the training samples
  std::vector<int> labels;  // their classes
  int num_neighbors = 1;
  int num_classes = 0;
};

// Keeps a copy of the samples. `labels` n classes 0, 1, ...; 1 <= num_neighbors <= n. Throws
// InvalidArgument otherwise, DataError for points that are not finite.
NearestModel fit_nearest(FloatView points, std::span<const int> labels, int num_neighbors = 1);

// The class with most votes; of equally many, the one whose nearest voter is nearest.
std::vector<int> predict(const NearestModel& model, FloatView points, int num_threads = 0);
// n x classes: the share of the votes.
Matrix<double> predict_probabilities(const NearestModel& model, FloatView points,
                                     int num_threads = 0);

}  // namespace milieu

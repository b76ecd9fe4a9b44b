// SPDX-License-Identifier: Apache-2.0
// The swap search behind kmedoids.h and behind exemplar.h's exact count, on a dense matrix.
#pragma once

#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/exemplar/search/service_lists.h"
#include "milieu/linalg/matrix.h"
#include "milieu/linalg/pair_distance.h"

namespace milieu::internal {

// served(q, p) = cost of serving p by q: rows are candidates, so that a candidate's costs lie
// together. The diagonal must be 0.
struct MedoidProblem {
  Matrix<float> served;
};

// From points or from a cost matrix [p, q]; refuses more than max_memory_gb with the number. When
// the monitor stops it, distances between points are incomplete and must not be used.
MedoidProblem medoid_problem(FloatView points, Distance distance, FloatView costs,
                             double max_memory_gb, int num_threads, Monitor& monitor);

// From lists that hold every pair.
MedoidProblem medoid_problem(const ServiceLists& lists, int num_threads, Monitor& monitor);

// Greedy start: k times, the candidate that lowers the cost most.
std::vector<int> build_medoids(const MedoidProblem& problem, int k, Monitor& monitor);

// Removes the medoids that are cheapest to lose, or adds those that save most, until there are
// k. When the monitor stops it there may still be more.
void fit_medoid_count(const MedoidProblem& problem, int k, std::vector<int>& medoids,
                      Monitor& monitor);

struct MedoidSearch {
  std::vector<int> medoids;  // ascending
  double cost = 0;
  std::vector<double> trace;  // cost after each pass
  bool is_converged = false;
};

// Swaps until a pass finds none, at most max_passes passes.
MedoidSearch swap_medoids(const MedoidProblem& problem, std::vector<int> medoids, int max_passes,
                          Monitor& monitor);

// Place in `medoids` that serves each sample.
std::vector<int> medoid_labels(const MedoidProblem& problem, const std::vector<int>& medoids);

}  // namespace milieu::internal

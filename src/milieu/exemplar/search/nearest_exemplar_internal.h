// SPDX-License-Identifier: Apache-2.0
// Assigning samples to given exemplars by their features.
#pragma once

#include <string>
#include <vector>

#include "milieu/exemplar/search/exemplar.h"
#include "milieu/exemplar/search/exemplar_solve_internal.h"

namespace milieu::internal {

std::string distance_name(Distance distance);
Distance distance_from_name(const std::string& name);  // DataError for an unknown one

// The gamma of rbf on these points, 1 / the mean of |x - y|^2 over their pairs as for a learned
// distance; 0 for other distances, and where there are no points.
double distance_gamma(Distance distance, FloatView points, int num_threads);

// Index of the nearest row of `exemplars` for each row of `points`; ties to the lowest index.
// `gamma` counts for `costs` only: rbf grows with the Euclidean distance, so the nearest are the
// same for any. InvalidArgument when the widths differ.
std::vector<int> nearest_exemplars(Distance distance, FloatView exemplars, FloatView points,
                                   int num_threads, double gamma = 0,
                                   std::vector<float>* costs = nullptr);

// After a search on cut lists: a sample none of whose candidates is open was made its own
// exemplar, though one that it does not list may be cheaper. Closes such exemplars where that saves
// energy. All other samples are with their nearest exemplar already: what a row does not list costs
// at least as much as what it lists.
void serve_by_true_nearest(const ExemplarInput& input, const ExemplarOptions& options,
                           const ServiceLists& lists, ExemplarSolution& solution, Monitor& monitor);

// Options of the loop from the user's.
SolveOptions solve_options(const ExemplarOptions& options);

}  // namespace milieu::internal

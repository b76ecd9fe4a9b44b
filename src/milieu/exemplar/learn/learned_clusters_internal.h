// SPDX-License-Identifier: Apache-2.0
// Clusters of samples whose learned distances are known.
#pragma once

#include <vector>

#include "milieu/classic/ncut/ncut_path.h"
#include "milieu/exemplar/learn/learned_distance.h"

namespace milieu::internal {

// sum of same_distance - costs(p, q) over all ordered pairs of a part, p = q included: high where
// parts hold pairs that belong together.
double pair_score(FloatView costs, const std::vector<int>& labels, double same_distance);

// The place in path.labels: of the numbers of parts that score nearly as well as the best, the one
// with the largest gap between eigenvalues; ties to the fewest parts.
size_t choose_cut(const CutPath& path, FloatView costs, double same_distance);

// The cut that the model's distance leads to, of exactly num_clusters parts or, for 0, of as many
// as choose_cut() finds. Empty if stopped.
std::vector<int> cut_labels(const LearnedDistance& model, FloatView costs, int num_clusters,
                            uint64_t seed, int num_threads, Monitor& monitor);

// Exemplars under the penalty for as many samples; the partition matters, not the last digits of
// its proof.
ExemplarResult quick_exemplars(FloatView costs, double penalty, int num_threads, Monitor& monitor);

}  // namespace milieu::internal

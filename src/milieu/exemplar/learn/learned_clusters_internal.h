// SPDX-License-Identifier: Apache-2.0
// Clusters of samples whose learned distances are known.
#pragma once

#include <vector>

#include "milieu/classic/ncut/ncut_path.h"
#include "milieu/exemplar/learn/learned_distance.h"

namespace milieu::internal {

// Cuts into several numbers of parts, with what scores them.
struct ScoredCuts {
  CutPath path;                // empty labels: stopped
  std::vector<double> pairs;   // ordered pairs within parts, every sample with itself included
  std::vector<double> inside;  // sum of their costs
  double mean = 0;             // cost, over all pairs of different samples
};

// Of num_clusters parts or, for 0, of all numbers that are considered.
ScoredCuts score_cuts(FloatView costs, int num_clusters, uint64_t seed, int num_threads,
                      Monitor& monitor);

// The place in path.labels. Numbers of parts score by the sum of same_cluster * mean - cost over
// the pairs of a part: high where parts hold pairs that belong together. Of those that score nearly
// as well as the best, the one with the largest gap between eigenvalues; of all, where same_cluster
// is empty. Ties to the fewest parts.
size_t choose_cut(const ScoredCuts& cuts, const std::vector<double>& same_cluster);

// Cuts of samples whose clusters are known.
struct HeldOutCuts {
  ScoredCuts cuts;
  std::vector<double> accuracies;  // of every number of parts

  double accuracy(const std::vector<double>& same_cluster) const;
  // Of the number of parts nearest to this one.
  double accuracy_of(int num_parts) const;
};
// Of the whole set first, then of halves of its clusters.
void add_held_out_cuts(const Matrix<float>& costs, const std::vector<int>& labels, uint64_t seed,
                       int num_threads, Monitor& monitor, std::vector<HeldOutCuts>& all);
// What chooses the numbers of parts best: highest mean accuracy; of several in a row, the middle
// one.
std::vector<double> best_same_cluster(const std::vector<HeldOutCuts>& all);

// Exemplars under the penalty for as many samples, and `own_factor` times the diagonal of the
// costs; the partition matters, not the last digits of its proof.
ExemplarResult quick_exemplars(FloatView costs, double penalty, double own_factor, int num_threads,
                               Monitor& monitor);

// The learned growth of the penalty to n samples.
double penalty_growth(const LearnedDistance& model, int64_t n);

}  // namespace milieu::internal

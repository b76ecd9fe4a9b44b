// SPDX-License-Identifier: Apache-2.0
// Below which distance pairs belong together: what chooses the number of parts of a cut.
// Conventions: it is measured in mean distances of the set that is cut, and found on samples that
//   the distance was not learned from: on its own training samples a learned distance is smaller
//   within clusters than on others, and new sets would fall into too many parts. Nothing of a set's
//   size enters, so it holds at other sizes.
#include <algorithm>
#include <cmath>

#include "milieu/base/random.h"
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/exemplar/learn/learned_clusters_internal.h"
#include "milieu/metrics/metrics.h"

namespace milieu::internal {

namespace {

// From 1/8 of the mean distance to twice of it, an eighth of an octave between two.
constexpr int kRungs = 33;
double rung(int i) { return std::exp2((i - 24) / 8.0); }
constexpr uint64_t kDraws = 2;  // of half of the clusters

// Samples of half of the clusters, drawn at random.
std::vector<int> half_of_clusters(const std::vector<int>& labels, Random random) {
  const int clusters = 1 + *std::max_element(labels.begin(), labels.end());
  std::vector<int> order(clusters);
  for (int c = 0; c < clusters; ++c) order[c] = c;
  random.shuffle(std::span(order));
  std::vector<char> is_taken(clusters, 0);
  for (int c = 0; c < std::max(2, clusters / 2); ++c) is_taken[order[c]] = 1;
  std::vector<int> rows;
  for (size_t p = 0; p < labels.size(); ++p)
    if (is_taken[labels[p]] != 0) rows.push_back(static_cast<int>(p));
  return rows;
}

// A single rung may be best by chance.
std::vector<double> smoothed(const std::vector<double>& values) {
  std::vector<double> means;
  for (size_t i = 0; i < values.size(); ++i)
    means.push_back(
        (values[i > 0 ? i - 1 : i] + values[i] + values[std::min(i + 1, values.size() - 1)]) / 3);
  return means;
}

void add_cuts(FloatView costs, const std::vector<int>& labels, uint64_t seed, int num_threads,
              Monitor& monitor, std::vector<HeldOutCuts>& all) {
  HeldOutCuts cuts{score_cuts(costs, 0, seed, num_threads, monitor), {}};
  for (const std::vector<int>& found : cuts.cuts.path.labels)
    cuts.accuracies.push_back(compute_metrics(found, labels).accuracy);
  all.push_back(std::move(cuts));
}

}  // namespace

double HeldOutCuts::accuracy(const std::vector<double>& same_cluster) const {
  return accuracies.empty() ? 0.0 : accuracies[choose_cut(cuts, same_cluster)];
}

double HeldOutCuts::accuracy_of(int num_parts) const {
  if (accuracies.empty()) return 0;
  const int last = cuts.path.last();
  return accuracies[std::clamp(num_parts, cuts.path.first, last) - cuts.path.first];
}

void add_held_out_cuts(const Matrix<float>& costs, const std::vector<int>& labels, uint64_t seed,
                       int num_threads, Monitor& monitor, std::vector<HeldOutCuts>& all) {
  add_cuts(costs, labels, seed, num_threads, monitor, all);
  for (uint64_t d = 0; d < kDraws && !monitor.should_stop(); ++d) {
    const std::vector<int> rows = half_of_clusters(labels, Random(seed).child(9 + d));
    if (rows.size() < 4 || rows.size() == labels.size()) continue;
    const SubSample taken = take_samples(costs, labels, rows);
    add_cuts(taken.costs, taken.labels, seed, num_threads, monitor, all);
  }
}

std::vector<double> best_same_cluster(const std::vector<HeldOutCuts>& all) {
  std::vector<double> sums(kRungs, 0.0);
  for (const HeldOutCuts& each : all)
    for (int i = 0; i < kRungs; ++i) sums[i] += each.accuracy({rung(i)});
  return {rung(middle_of_best(smoothed(sums)))};
}

}  // namespace milieu::internal

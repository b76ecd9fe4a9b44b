// SPDX-License-Identifier: Apache-2.0
// How well a clustering agrees with the truth. One function computes all figures from the
// contingency table; conventions (label -1, one cluster, empty input) are written in metrics.cc and
// docs/metrics.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace milieu {

struct Metrics {
  int64_t n = 0;              // samples that count (truth >= 0)
  int num_clusters = 0;       // distinct labels
  int num_classes = 0;        // distinct classes of the truth
  double accuracy = 0;        // share of samples on the best one-to-one matching (Hungarian)
  double error = 0;           // 1 - accuracy
  double balanced_error = 0;  // mean over classes of the class's error under that matching
  double nmi = 0;             // mutual information / arithmetic mean of the entropies
  double nmi_sqrt = 0;        // ... / geometric mean
  double nmi_max = 0;         // ... / maximum [Xie15]
  double ari = 0;             // adjusted Rand index
  double f = 0;               // class-weighted best-match F
  double f_pairwise = 0;      // F of the pairs put together
  double precision_pairwise = 0;
  double recall_pairwise = 0;
  double purity = 0;          // share of samples in the majority class of their cluster
  std::vector<int64_t> sizes;           // samples per cluster, by label; from 0 to the highest label
  std::vector<int> class_from_cluster;  // the matching; -1: the cluster got no class
};

// labels and truth have the same length; values are small non-negative integers or -1.
Metrics compute_metrics(std::span<const int> labels, std::span<const int> truth);

// Counts of (cluster, class): table[c * num_classes + t]. Labels and truth must be >= 0.
std::vector<int64_t> contingency_table(std::span<const int> labels, int num_clusters,
                                       std::span<const int> truth, int num_classes);

// Column given to each row so that the sum of the chosen entries is largest, each column at most
// once; -1 for rows left over when rows > cols. Rectangular Hungarian method, O(min^2 max).
std::vector<int> maximum_assignment(std::span<const int64_t> profit, int rows, int cols);

}  // namespace milieu

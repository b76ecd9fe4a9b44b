// SPDX-License-Identifier: Apache-2.0
// How well a clustering agrees with the truth. One function computes all figures from the
// contingency table; formulas are in docs/metrics.md, the conventions there and at the top of
// metrics.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

struct Metrics {
  int64_t n = 0;              // samples that count (truth >= 0)
  int num_clusters = 0;       // distinct labels >= 0 among them
  int num_classes = 0;        // distinct classes of the truth
  double accuracy = 0;        // share of samples on the best one-to-one matching (Hungarian)
  double error = 0;           // 1 - accuracy
  double balanced_error = 0;  // mean error of the classes under the matching best for it
  double nmi = 0;             // mutual information / arithmetic mean of the entropies
  double nmi_sqrt = 0;        // ... / geometric mean
  double nmi_max = 0;         // ... / maximum [Xie15]
  double ari = 0;             // adjusted Rand index
  double f = 0;               // class-weighted best-match F
  double f_pairwise = 0;      // F of the pairs put together
  double precision_pairwise = 0;
  double recall_pairwise = 0;
  double f_bcubed = 0;  // harmonic mean of the two below [Bagga98]
  double precision_bcubed =
      0;  // mean over samples of the share of their cluster that is of their class
  double recall_bcubed = 0;  // ... of the share of their class that is in their cluster
  double purity = 0;         // share of samples in the majority class of their cluster

  // By label, from 0 to the highest one; a label that does not occur has size 0 and class -1. Both
  // are empty when a label is 10^8 or more: it is a name then, not an index.
  std::vector<int64_t> sizes;           // samples that count
  std::vector<int> class_from_cluster;  // matched class, as in truth; -1: it shares none with it
};

// All figures of `labels` against `truth`, which have the same length. A sample whose truth is -1
// is left out; a label of -1 is a sample without a cluster. Values need not be small or without
// gaps; clusters x classes is at most 10^8. Throws InvalidArgument for other lengths, for values
// below -1 and when no sample is left.
Metrics compute_metrics(std::span<const int> labels, std::span<const int> truth);

// Counts of (cluster, class): table[c * num_classes + t]. Labels lie in [0, num_clusters), truth in
// [0, num_classes); throws InvalidArgument otherwise.
std::vector<int64_t> contingency_table(std::span<const int> labels, int num_clusters,
                                       std::span<const int> truth, int num_classes);

// Column given to each row so that the sum of the chosen entries of `profit` (rows x cols,
// row-major, any sign) is largest, each column at most once. Every row gets a column when rows <=
// cols; otherwise every column is used and the rows left over get -1. Rectangular Hungarian method,
// O(min^2 max), exact for all int64 values.
std::vector<int> maximum_assignment(std::span<const int64_t> profit, int rows, int cols);

}  // namespace milieu

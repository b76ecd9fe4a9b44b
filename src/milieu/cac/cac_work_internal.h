// SPDX-License-Identifier: Apache-2.0
// What the steps of nested EM keep for each view and each block; see cac_steps.h.
#pragma once

#include <vector>

#include "milieu/cac/cac_steps.h"
#include "milieu/classic/kmeans/kmeans_centers.h"

namespace milieu::internal {

inline constexpr int64_t kPrimitiveBlock = 512;
inline constexpr int64_t kGroupBlock = 1024;
// Distances of all primitives to all words are kept between M-steps up to this many floats; beyond
// it they are recomputed in every word step.
inline constexpr int64_t kMaxKeptDistances = int64_t{1} << 27;

struct NestedEm::ViewWork {
  explicit ViewWork(const CacView& view) : sums(view.problem) {}

  ClusterSums sums;
  int64_t stride = 0;             // words, padded to whole lanes
  Matrix<float> signs;            // phrases x stride: 2 u_mk - 1, 0 beyond the last word
  Matrix<float> scaled_words;     // words x d: around the mean of the view, in units of its spread
  std::vector<float> word_norms;  // their squared lengths
  float largest_norm = 0;
  Matrix<float> distances;   // primitives x stride in those units; empty: not kept
  std::vector<float> norms;  // of the primitives, with the distances
  bool distances_are_current = false;
};

struct NestedEm::WordScratch {
  WordScratch(int num_phrases, int64_t stride)
      : scores(static_cast<size_t>(stride)),
        counts(static_cast<size_t>(num_phrases)),
        signs(counts.size()),
        sign_weights(counts.size()) {}

  Matrix<float> points;     // rows of the block, scaled
  Matrix<float> distances;  // where they are not kept
  std::vector<float> norms;
  std::vector<float> scores;
  std::vector<double> counts;       // phrases: c_i of one primitive
  std::vector<const float*> signs;  // of the phrases that occur
  std::vector<float> sign_weights;  // lambda times their counts, in the units of the distances
};

// The sum in a fixed order, the same for any number of threads.
double sum_of(std::span<const double> values, int num_threads);

template <class T>
void NestedEm::complete(const CacView& view, std::vector<T>& values) const {
  problem_.team->complete<T>(view.size(), kPrimitiveBlock,
                             std::span(values).subspan(view.first_primitive, view.size()));
}

}  // namespace milieu::internal

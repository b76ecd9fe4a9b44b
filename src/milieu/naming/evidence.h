// SPDX-License-Identifier: Apache-2.0
// What samples say about labels: scores of a classifier, or similarities to label vectors, turned
// into numbers that can be averaged and compared whatever the scale of the scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// How many of a sample's highest scores count.
inline constexpr int kEvidenceRanks = 10;

// Of every sample, the labels with its highest scores and their reciprocal ranks: 1 for the highest
// score, 1/2 for the next, down to 1/10. Labels with equal scores share the mean of their ranks'
// values; equal scores that reach beyond the tenth rank say nothing and are left out.
struct LabelEvidence {
  int64_t num_labels = 0;
  std::vector<int64_t> offsets = {0};  // n + 1: where each sample's entries begin
  std::vector<int32_t> labels;         // of the entries, ascending within a sample
  std::vector<float> values;

  int64_t num_samples() const { return static_cast<int64_t>(offsets.size()) - 1; }
  std::span<const int32_t> labels_of(int64_t sample) const {
    return std::span(labels).subspan(begin(sample), begin(sample + 1) - begin(sample));
  }
  std::span<const float> values_of(int64_t sample) const {
    return std::span(values).subspan(begin(sample), begin(sample + 1) - begin(sample));
  }

 private:
  size_t begin(int64_t sample) const {
    return static_cast<size_t>(offsets[static_cast<size_t>(sample)]);
  }
};

// From scores, samples x labels. Throws DataError for a score that is not finite, by row and
// column.
LabelEvidence evidence_from_scores(FloatView scores, int num_threads = 0);

// From the cosines of samples and label vectors. A vector of zeros has the cosine 0 with every
// other. Throws InvalidArgument for different widths, DataError for numbers that are not finite.
LabelEvidence evidence_from_vectors(FloatView points, FloatView label_vectors, int num_threads = 0);

}  // namespace milieu

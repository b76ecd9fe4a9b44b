// SPDX-License-Identifier: Apache-2.0
// The table of methods that pass through the conformance suite, and the fixture of its tests.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "milieu/testing/conformance.h"

namespace milieu {

// Every method of Milieu, in the order of the commands.
std::vector<ConformanceMethod> all_methods();

class Conformance : public ::testing::TestWithParam<ConformanceMethod> {
 protected:
  const ConformanceMethod& method() const { return GetParam(); }

  ConformanceOutcome fit(FloatView points, const ConformanceSettings& settings = {}) const {
    return method().fit(points, settings, silent_monitor());
  }
  // A set on which restarts and iterations have something to do: the clusters overlap.
  LabelledPoints make_overlapping(int64_t n, int64_t d, int num_clusters, uint64_t seed) const {
    if (method().is_binary)
      return make_binary_blobs({.n = n,
                                .d = 8 * d,
                                .num_clusters = num_clusters,
                                .flip_probability = 0.25,
                                .seed = seed});
    if (method().is_counts)
      return make_count_blobs({.n = n,
                               .d = 8 * d,
                               .num_clusters = num_clusters,
                               .total = 60,
                               .contrast = 3,
                               .seed = seed});
    return make_blobs(
        {.n = n, .d = d, .num_clusters = num_clusters, .separation = 2.5, .seed = seed});
  }
};

}  // namespace milieu

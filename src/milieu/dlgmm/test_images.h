// SPDX-License-Identifier: Apache-2.0
// For tests: images drawn from the model, and the options that suit them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/random.h"
#include "milieu/dlgmm/dlgmm.h"

namespace MILIEU_API milieu {

// Images drawn from the model: D images of side x side patches.
struct Drawn {
  Matrix<float> patches;
  std::vector<int64_t> offsets;
  Matrix<int32_t> grid;
  std::vector<int> labels;
  Matrix<float> words;
  DlgmmInput input() const {
    DlgmmInput in;
    in.images = {patches.view(), offsets, grid.view(), {}};
    return in;
  }
};

struct DrawOptions {
  int D = 40, J = 3, V = 6, R = 4, side = 4;
  double spread = 1.5, sig = 0.4, sep = 3;
  uint64_t seed = 1;
};

inline Drawn draw(const DrawOptions& o) {
  Random random(o.seed);
  Drawn out;
  const int N = o.side * o.side;
  Matrix<double> mu(o.J, o.V);
  for (double& x : std::span(mu.data(), mu.size())) x = o.spread * random.normal();
  out.words = Matrix<float>(o.V, o.R);
  for (float& x : std::span(out.words.data(), out.words.size()))
    x = static_cast<float>(o.sep * random.normal());
  std::vector<double> delta(o.V);
  for (double& x : delta) x = std::sqrt(random.uniform(0.5, 1.5));
  out.patches = Matrix<float>(o.D * N, o.R);
  out.grid = Matrix<int32_t>(o.D, 2);
  out.offsets.push_back(0);
  for (int d = 0; d < o.D; ++d) {
    const int j = static_cast<int>(random.uniform_index(o.J));
    out.labels.push_back(j);
    out.grid(d, 0) = out.grid(d, 1) = o.side;
    std::vector<double> weights(o.V);
    for (int v = 0; v < o.V; ++v) weights[v] = std::exp(mu(j, v) + o.sig * random.normal());
    for (int i = 0; i < N; ++i) {
      const int64_t v = random.weighted_index(weights);
      for (int r = 0; r < o.R; ++r)
        out.patches(d * N + i, r) =
            out.words(v, r) + static_cast<float>(delta[v] * random.normal());
    }
    out.offsets.push_back((d + 1) * N);
  }
  return out;
}

inline DlgmmOptions small_options() {
  DlgmmOptions o;
  o.num_words = 6, o.num_clusters = 3, o.num_restarts = 2, o.max_iterations = 15;
  o.rel_tolerance = 0, o.num_threads = 1;
  return o;
}

inline void expect_same(const DlgmmResult& a, const DlgmmResult& b) {
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.summary.trace, b.summary.trace);
  EXPECT_TRUE(a.model.words == b.model.words);
  EXPECT_TRUE(a.model.means == b.model.means);
  EXPECT_TRUE(a.model.covariances == b.model.covariances);
  EXPECT_TRUE(a.model.word_variances == b.model.word_variances);
  EXPECT_TRUE(a.prediction.probabilities == b.prediction.probabilities);
}

}  // namespace milieu

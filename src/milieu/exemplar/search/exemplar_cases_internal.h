// SPDX-License-Identifier: Apache-2.0
// What the tests of this module share: random instances and the exhaustive optimum.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/exemplar/search/exemplar.h"

namespace milieu::internal {

enum class Kind { Uniform, Gaussian, Asymmetric, Duplicates, Negative };
inline constexpr Kind kKinds[] = {Kind::Uniform, Kind::Gaussian, Kind::Asymmetric, Kind::Duplicates,
                                  Kind::Negative};

// Costs of a random instance; the diagonal is left 0 and never read.
inline Matrix<float> random_costs(Kind kind, int n, uint64_t seed) {
  Random random(seed);
  Matrix<float> points(n, 2), costs(n, n);
  for (int p = 0; p < n; ++p)
    for (int t = 0; t < 2; ++t) {
      points(p, t) =
          static_cast<float>(kind == Kind::Gaussian ? random.normal() : random.uniform());
      if (kind == Kind::Duplicates && p % 3 == 1) points(p, t) = points(p - 1, t);
    }
  for (int p = 0; p < n; ++p)
    for (int q = 0; q < n; ++q) {
      if (p == q) continue;
      if (kind == Kind::Asymmetric) {
        costs(p, q) = static_cast<float>(random.uniform());
      } else {
        costs(p, q) = std::hypot(points(p, 0) - points(q, 0), points(p, 1) - points(q, 1));
        if (kind == Kind::Negative) costs(p, q) -= 0.3f;
      }
    }
  return costs;
}

// Smallest energy over all sets of exemplars: [Komodakis11, Eq. 1] by enumeration.
inline double exhaustive_optimum(const Matrix<float>& costs, const std::vector<double>& penalty) {
  const int n = static_cast<int>(costs.rows());
  double best = INFINITY;
  for (int set = 1; set < (1 << n); ++set) {
    double energy = 0;
    for (int p = 0; p < n && energy < INFINITY; ++p) {
      if (set >> p & 1) {
        energy += penalty[p];
        continue;
      }
      double cheapest = INFINITY;
      for (int q = 0; q < n; ++q)
        if (set >> q & 1) cheapest = std::min<double>(cheapest, costs(p, q));
      energy += cheapest;
    }
    best = std::min(best, energy);
  }
  return best;
}

// The energy of a result, from the costs and the labels alone.
inline double energy_of(const ExemplarResult& result, const Matrix<float>& costs,
                        const std::vector<double>& penalty) {
  double energy = 0;
  for (int64_t p = 0; p < costs.rows(); ++p) {
    const int64_t q = result.model.rows[result.labels[p]];
    energy += p == q ? penalty[p] : costs(p, q);
  }
  return energy;
}

inline ExemplarOptions with_penalty_text(double penalty) {
  ExemplarOptions options;
  options.penalty = to_text(FieldValue(penalty));
  options.rel_gap = 0;
  return options;
}

}  // namespace milieu::internal

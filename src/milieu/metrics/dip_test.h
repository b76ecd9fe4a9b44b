// SPDX-License-Identifier: Apache-2.0
// Hartigan's dip test [Hartigan85]: does a sample come from a distribution with a single mode?
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// The largest distance between the empirical distribution function and the nearest one with a
// single mode; at least 1 / (2 n), at most 1/4. Any order; throws InvalidArgument for no values and
// for values that are not finite.
double dip_of(std::span<const double> values);

// How often n values of the uniform distribution, the hardest one with a single mode, have a dip of
// at least `dip`: by simulation, with the same bits for the same seed. Large samples are simulated
// by smaller ones, whose dips times the root of n have nearly the same distribution.
class DipTest {
 public:
  explicit DipTest(uint64_t seed = 1) : seed_(seed) {}
  double p_value(double dip, int64_t n);

 private:
  uint64_t seed_;
  std::map<int64_t, std::vector<double>> simulated_;  // sorted, by sample size
};

}  // namespace milieu

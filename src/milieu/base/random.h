// SPDX-License-Identifier: Apache-2.0
// One random stream: the same numbers on every platform, compiler and standard library.
//
// The generator is xoshiro256++ (Blackman and Vigna 2019), seeded through splitmix64. Everything
// drawn from it uses integer arithmetic or +, -, *, /, sqrt on doubles (correctly rounded under
// IEEE 754) and our own logarithm, never <random> or libm, so that bits do not depend on either.
//
// Streams belong to work, not to threads: give each restart, and each block inside it, its own
// `child(index)`; results then do not depend on the number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

class Random {
 public:
  explicit Random(uint64_t seed = 1);

  // An independent stream that depends only on this stream's seed and `index`, not on how many
  // numbers were drawn so far. child(i) and child(j) differ for i != j.
  Random child(uint64_t index) const;

  uint64_t next_bits();                     // 64 uniform bits
  double uniform();                         // in [0, 1), 53 bits
  double uniform(double low, double high);  // in [low, high); low when they are equal
  int64_t uniform_index(int64_t n);         // in [0, n), unbiased; n >= 1
  double normal();                          // standard normal, polar method
  bool bernoulli(double probability) { return uniform() < probability; }

  // Index i with probability weights[i] / sum. Weights must be >= 0 with a positive, finite sum.
  int64_t weighted_index(std::span<const double> weights);

  // `count` distinct indices of [0, n) in random order (partial shuffle when count is large,
  // rejection when small); 0 <= count <= n.
  std::vector<int64_t> sample_without_replacement(int64_t n, int64_t count);

  template <class T>
  void shuffle(std::span<T> values) {
    for (int64_t i = static_cast<int64_t>(values.size()) - 1; i > 0; --i)
      std::swap(values[i], values[uniform_index(i + 1)]);
  }

 private:
  uint64_t seed_ = 0;  // what child() derives from
  std::array<uint64_t, 4> state_{};
};

// Natural logarithm by exact scaling and a series, within 2 ulp, identical on every platform;
// x > 0 and normal. Used where the bits of random numbers depend on it.
double portable_log(double x);

}  // namespace milieu

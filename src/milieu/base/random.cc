// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/random.h"

#include <bit>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "milieu/base/error.h"

namespace milieu {

namespace {

// splitmix64: one step of a Weyl sequence followed by a mixer; spreads any seed over 64 bits.
uint64_t splitmix(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(uint64_t seed) : seed_(seed) {
  uint64_t mixer = seed;
  for (uint64_t& word : state_) word = splitmix(mixer);
}

Random Random::child(uint64_t index) const {
  uint64_t mixer = seed_ ^ 0x6a09e667f3bcc909u;
  const uint64_t own = splitmix(mixer);
  mixer = index + 0x3c6ef372fe94f82bu;
  return Random(own ^ std::rotl(splitmix(mixer), 17));
}

uint64_t Random::next_bits() {
  const uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next_bits() >> 11) * 0x1.0p-53; }

double Random::uniform(double low, double high) {
  const double x = low + (high - low) * uniform();
  return x < high || !(low < high) ? x : std::nextafter(high, low);  // the sum may round up to high
}

int64_t Random::uniform_index(int64_t n) {
  require(n >= 1, "uniform_index: n must be at least 1");
  const uint64_t range = static_cast<uint64_t>(n);
  const uint64_t unbiased_from = (0 - range) % range;  // 2^64 mod n
  while (true) {
    const uint64_t bits = next_bits();
    if (bits >= unbiased_from) return static_cast<int64_t>(bits % range);
  }
}

double Random::normal() {
  // The second number of each pair is discarded: a stream without a hidden half is easier to
  // reason about, and normals are never the bottleneck.
  while (true) {
    const double x = 2 * uniform() - 1;
    const double y = 2 * uniform() - 1;
    const double r2 = x * x + y * y;
    if (r2 < 1 && r2 > 0) return x * std::sqrt(-2 * portable_log(r2) / r2);
  }
}

int64_t Random::weighted_index(std::span<const double> weights) {
  double sum = 0;
  for (double w : weights) {
    require(w >= 0, "weighted_index: weights must not be negative or NaN");
    sum += w;
  }
  require(sum > 0 && std::isfinite(sum),
          "weighted_index: weights must have a positive, finite sum");
  double left = uniform() * sum;
  int64_t last_positive = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last_positive = static_cast<int64_t>(i);
    left -= weights[i];
    if (left < 0) break;
  }
  return last_positive;  // rounding may leave a rest: then the last positive weight is taken
}

std::vector<int64_t> Random::sample_without_replacement(int64_t n, int64_t count) {
  require(count >= 0 && count <= n, "sample_without_replacement: count must be in [0, n]");
  std::vector<int64_t> chosen;
  if (count * 4 < n) {  // few of many: draw again on a repeat
    chosen.reserve(count);
    std::unordered_set<int64_t> seen;
    while (static_cast<int64_t>(chosen.size()) < count) {
      const int64_t i = uniform_index(n);
      if (seen.insert(i).second) chosen.push_back(i);
    }
    return chosen;
  }
  chosen.resize(n);
  std::iota(chosen.begin(), chosen.end(), int64_t{0});
  for (int64_t i = 0; i < count; ++i) std::swap(chosen[i], chosen[i + uniform_index(n - i)]);
  chosen.resize(count);
  return chosen;
}

double portable_log(double x) {
  // x = m 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m-1)/(m+1), |s| < 0.172.
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1022;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffu) | 0x3fe0000000000000u);
  if (m < 0.70710678118654752) {
    m *= 2;
    exponent -= 1;
  }
  const double s = (m - 1) / (m + 1);
  const double s2 = s * s;
  double series = 0;
  for (int k = 23; k >= 1; k -= 2) series = series * s2 + 1.0 / k;
  constexpr double kLog2High = 0x1.62e42fefa38p-1;  // exact product with any exponent
  constexpr double kLog2Low = 0x1.ef35793c7673p-45;
  return exponent * kLog2High + (exponent * kLog2Low + 2 * s * series);
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Problem: min over distribution functions G with one mode of max_x |F(x) - G(x)|.
// Find: left of its mode G is convex, right of it concave. The interval of the mode shrinks from
// both
//   sides: between the greatest convex function below F and the least concave one above it, the
//   ends are the touching points of the pair that is farthest apart; outside of the new interval G
//   is settled, and F's distance from it is a lower bound D of twice the dip. It ends when the pair
//   is nowhere farther apart than D.
// Symbols: lower F just left of a value, upper F at it; both per distinct value.
// See: [Hartigan85].
#include "milieu/metrics/dip_test.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {

namespace {

constexpr int kSimulations = 2000;
constexpr int64_t kMostSimulated = 400;

struct Steps {
  std::vector<double> values, lower, upper;
};

Steps steps_of(std::vector<double> sorted) {
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  Steps steps;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && sorted[i] == sorted[i - 1]) {
      steps.upper.back() = static_cast<double>(i + 1) / n;
      continue;
    }
    steps.values.push_back(sorted[i]);
    steps.lower.push_back(static_cast<double>(i) / n);
    steps.upper.push_back(static_cast<double>(i + 1) / n);
  }
  return steps;
}

// Of the points (x_i, sign * y_i), first <= i <= last: the greatest convex function below them (for
// sign -1 the least concave one above the y), at every x_i, and where it touches.
struct Hull {
  std::vector<double> at;       // of the interval: entry 0 belongs to `first`
  std::vector<size_t> touches;  // indices as those of x
};

Hull hull_of(const std::vector<double>& x, const std::vector<double>& y, size_t first, size_t last,
             double sign) {
  Hull hull;
  for (size_t i = first; i <= last; ++i) {
    while (hull.touches.size() >= 2) {
      const size_t a = hull.touches[hull.touches.size() - 2], b = hull.touches.back();
      if (sign * ((y[b] - y[a]) * (x[i] - x[a]) - (y[i] - y[a]) * (x[b] - x[a])) < 0) break;
      hull.touches.pop_back();
    }
    hull.touches.push_back(i);
  }
  for (size_t i = first, h = 0; i <= last; ++i) {
    while (h + 1 < hull.touches.size() && hull.touches[h + 1] <= i) ++h;
    const size_t a = hull.touches[h], b = hull.touches[std::min(h + 1, hull.touches.size() - 1)];
    hull.at.push_back(a == b ? y[a] : y[a] + (x[i] - x[a]) / (x[b] - x[a]) * (y[b] - y[a]));
  }
  return hull;
}

// The shrinking interval of the mode, and the bound so far.
struct ModeInterval {
  size_t first, last;
  double bound;
};

// One round; false when the interval is settled.
bool shrink(const Steps& f, ModeInterval& mode) {
  const Hull convex = hull_of(f.values, f.lower, mode.first, mode.last, 1);
  const Hull concave = hull_of(f.values, f.upper, mode.first, mode.last, -1);
  const auto apart = [&](size_t i) {
    return concave.at[i - mode.first] - convex.at[i - mode.first];
  };
  double widest = -1;
  ModeInterval inner = mode;
  for (const size_t i : convex.touches)
    if (apart(i) > widest) {
      widest = apart(i);
      inner.first = i;
      inner.last = *std::ranges::lower_bound(concave.touches, i);
    }
  for (const size_t i : concave.touches)
    if (apart(i) > widest) {
      widest = apart(i);
      inner.last = i;
      inner.first = *(std::ranges::upper_bound(convex.touches, i) - 1);
    }
  if (widest <= mode.bound) return false;
  const bool is_place = inner.first == inner.last;  // G may jump there
  for (size_t i = mode.first; i < inner.first + (is_place ? 0 : 1); ++i)
    inner.bound = std::max(inner.bound, f.upper[i] - convex.at[i - mode.first]);
  for (size_t i = inner.last + (is_place ? 1 : 0); i <= mode.last; ++i)
    inner.bound = std::max(inner.bound, concave.at[i - mode.first] - f.lower[i]);
  const bool has_shrunk = inner.first > mode.first || inner.last < mode.last;
  mode = inner;
  return has_shrunk;
}

}  // namespace

double dip_of(std::span<const double> values) {
  require(!values.empty(), "dip_of: there are no values");
  for (const double value : values) require(std::isfinite(value), "dip_of: a value is not finite");
  const Steps f = steps_of({values.begin(), values.end()});
  ModeInterval mode{0, f.values.size() - 1, 1 / static_cast<double>(values.size())};
  while (shrink(f, mode)) {
  }
  return mode.bound / 2;
}

double DipTest::p_value(double dip, int64_t n) {
  require(n >= 1, "dip test: there are no values");
  int64_t size = std::min(n, kMostSimulated);
  if (size > 40) size -= size % 20;
  std::vector<double>& sorted = simulated_[size];
  if (sorted.empty()) {
    Random random = Random(seed_).child(static_cast<uint64_t>(size));
    std::vector<double> values(static_cast<size_t>(size));
    for (int s = 0; s < kSimulations; ++s) {
      for (double& value : values) value = random.uniform();
      sorted.push_back(dip_of(values));
    }
    std::ranges::sort(sorted);
  }
  const double scaled = dip * std::sqrt(static_cast<double>(n) / static_cast<double>(size));
  const auto at_least = sorted.end() - std::ranges::lower_bound(sorted, scaled - 1e-12);
  return (1 + static_cast<double>(at_least)) / (1 + kSimulations);
}

}  // namespace milieu

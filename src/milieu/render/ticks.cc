// SPDX-License-Identifier: Apache-2.0
#include "milieu/render/ticks.h"

#include <algorithm>
#include <cmath>

#include "milieu/render/number_text.h"

namespace milieu {
namespace {

// mantissa * 10^exponent.
struct Step {
  int mantissa = 1;  // 1, 2 or 5
  int exponent = 0;

  double value() const { return mantissa * std::pow(10.0, exponent); }
};

// The smallest round step that is at least `wanted`.
Step round_up_to_step(double wanted) {
  const int exponent = static_cast<int>(std::floor(std::log10(wanted)));
  for (int mantissa : {1, 2, 5}) {
    const Step step{mantissa, exponent};
    if (step.value() >= wanted * (1 - 1e-9)) return step;
  }
  return {1, exponent + 1};
}

// Labels with numbers beyond these are hard to read: a power of ten is taken out.
int common_exponent(double largest) {
  if (largest == 0 || (largest >= 1e-2 && largest < 1e5)) return 0;
  return static_cast<int>(std::floor(std::log10(largest)));
}

// Ticks that are not on a grid: each with its own short label.
Ticks ticks_at(const std::vector<double>& values) {
  Ticks result;
  for (double value : values) result.ticks.push_back({value, real_text(value)});
  return result;
}

}  // namespace

Ticks nice_ticks(double low, double high, int max_count, bool whole_numbers) {
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) return {};
  if (low == high) return ticks_at({low});
  const double largest = std::max(std::abs(low), std::abs(high));
  const double wanted = high / max_count - low / max_count;  // high - low could overflow
  if (wanted < 1e-12 * largest || wanted < 1e-290) return ticks_at({low, high});
  Step step = round_up_to_step(wanted);
  if (whole_numbers && step.exponent < 0) step = {1, 0};

  Ticks result;
  result.exponent = common_exponent(largest);
  const int decimals = std::max(0, result.exponent - step.exponent);
  const double unit = std::pow(10.0, result.exponent);
  // A tick may miss the end by rounding alone.
  const double slack = 1e-9;
  const double first = std::ceil(low / step.value() - slack);
  const double last = std::floor(high / step.value() + slack);
  for (double i = first; i <= last; ++i) {
    const double value = std::clamp(i * step.value(), low, high);
    result.ticks.push_back({value, fixed_text(value / unit, decimals)});
  }
  return result;
}

}  // namespace milieu

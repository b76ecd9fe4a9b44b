// SPDX-License-Identifier: Apache-2.0
// Compares an analytic gradient with central differences.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace milieu {

struct GradientCheck {
  double max_error = 0;      // largest |analytic - numeric| / max(1, |analytic|, |numeric|)
  int64_t worst_index = -1;  // where it is; -1 for an empty gradient
  double analytic = 0;       // the two values there
  double numeric = 0;

  // "coordinate 3: analytic 1.5, numeric 1.2, error 0.2", for the message of a failed test.
  std::string text() const;
};

// `analytic` is the gradient of `function` at `point`. Each difference spans 2 `step` max(1, |x|):
// the default balances truncation and rounding, which leaves errors of about 1e-9 for functions of
// the size of 1 that are smooth there; pass kinks by another point, not by a larger tolerance.
// A NaN anywhere gives an infinite error.
GradientCheck check_gradient(const std::function<double(std::span<const double>)>& function,
                             std::span<const double> point, std::span<const double> analytic,
                             double step = 6e-6);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/testing/gradient_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"

namespace milieu {

std::string GradientCheck::text() const {
  return fmt::format("coordinate {}: analytic {}, numeric {}, error {:.3g}", worst_index, analytic,
                     numeric, max_error);
}

GradientCheck check_gradient(const std::function<double(std::span<const double>)>& function,
                             std::span<const double> point, std::span<const double> analytic,
                             double step) {
  require(point.size() == analytic.size(), [&] {
    return fmt::format("the gradient has {}, the point has {}: they must match",
                       counted(analytic.size(), "entry", "entries"), point.size());
  });
  GradientCheck check;
  std::vector<double> moved(point.begin(), point.end());
  for (size_t i = 0; i < point.size(); ++i) {
    const double h = step * std::max(1.0, std::abs(point[i]));
    moved[i] = point[i] + h;
    const double above = function(moved);
    const double high = moved[i];
    moved[i] = point[i] - h;
    const double numeric = (above - function(moved)) / (high - moved[i]);
    moved[i] = point[i];
    double error =
        std::abs(analytic[i] - numeric) / std::max({1.0, std::abs(analytic[i]), std::abs(numeric)});
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    if (check.worst_index < 0 || error > check.max_error)
      check = {error, static_cast<int64_t>(i), analytic[i], numeric};
  }
  return check;
}

}  // namespace milieu

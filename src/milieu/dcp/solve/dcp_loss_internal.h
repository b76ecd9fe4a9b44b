// SPDX-License-Identifier: Apache-2.0
// The losses, as functions of the violation v = 1 - y f: nondecreasing and convex, so that
// [Lampert08, Eq. 7] turns into a maximum over f. All are without the factor C. The logistic loss
// is log(1 + exp(-y f)): no margin, and every sample counts a little.
#pragma once

#include <algorithm>
#include <cmath>

#include "milieu/dcp/dcp.h"

namespace milieu::internal {

// A loss and, where its corner is rounded, the half width of the rounding. A hinge is searched
// with a rounded corner and solved with width 0.
struct LossShape {
  DcpLoss loss = DcpLoss::SquaredHinge;
  double width = 0;  // Huber only

  // phi(v).
  double value(double v) const {
    if (loss == DcpLoss::Hinge) return std::max(v, 0.0);
    if (loss == DcpLoss::SquaredHinge) return v > 0 ? v * v : 0.0;
    if (loss == DcpLoss::Logistic)
      return std::max(v - 1, 0.0) + std::log1p(std::exp(-std::abs(v - 1)));
    if (v <= -width) return 0;
    return v >= width ? v : (v + width) * (v + width) / (4 * width);
  }
  // phi'(v); at a corner the derivative from the right.
  double slope(double v) const {
    if (loss == DcpLoss::Hinge) return v >= 0 ? 1 : 0;
    if (loss == DcpLoss::SquaredHinge) return v > 0 ? 2 * v : 0.0;
    if (loss == DcpLoss::Logistic) return 1 / (1 + std::exp(1 - v));
    return std::clamp((v + width) / (2 * width), 0.0, 1.0);
  }
  // phi''(v), one-sided at corners; 0 for the hinge.
  double bend(double v) const {
    if (loss == DcpLoss::SquaredHinge) return v > 0 ? 2 : 0;
    if (loss == DcpLoss::Huber) return std::abs(v) <= width ? 1 / (2 * width) : 0;
    if (loss == DcpLoss::Logistic) return slope(v) * (1 - slope(v));
    return 0;
  }
  // phi*(s) = max_v s v - phi(v), for a slope s that phi takes: the dual's share.
  double conjugate(double s) const {
    if (loss == DcpLoss::SquaredHinge) return s * s / 4;
    if (loss == DcpLoss::Huber) return -width * s * (1 - s);
    if (loss == DcpLoss::Logistic) return s + x_log_x(s) + x_log_x(1 - s);
    return 0;
  }

 private:
  static double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }
};

// The loss that gradient methods use in place of `loss`: a hinge gets a rounded corner.
inline LossShape smoothed(const LossShape& loss, double width) {
  return loss.loss == DcpLoss::Hinge ? LossShape{DcpLoss::Huber, width} : loss;
}

}  // namespace milieu::internal

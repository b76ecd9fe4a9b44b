// SPDX-License-Identifier: Apache-2.0
// A gap in a class: the direction in which it falls into two most clearly, and a test on samples
// that did not choose the direction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/base/random.h"
#include "milieu/icc/advise/icc_advise.h"
#include "milieu/linalg/matrix.h"
#include "milieu/metrics/dip_test.h"

namespace milieu::internal {

struct Gap {
  double p_value = 1;
  double stability = 1;
  std::vector<int> sides;  // 0 or 1 per row; all 0 where no cut leaves min_size rows on both sides
};

// `rows` n x m: samples of one class on principal axes. `context_axes` a x m: axes that distinguish
// the other classes, looked at too; may be empty.
// What it gives is incomplete when the monitor stops it.
Gap find_gap(const Matrix<float>& rows, const Matrix<double>& context_axes,
             const IccAdviseOptions& options, const Random& random, DipTest& test,
             const Monitor& monitor);

}  // namespace milieu::internal

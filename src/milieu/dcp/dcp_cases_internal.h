// SPDX-License-Identifier: Apache-2.0
// Small problems that the tests share, and an independent solver for them.
#pragma once

#include <cmath>
#include <initializer_list>
#include <vector>

#include "milieu/dcp/dcp.h"
#include "milieu/dcp/solve/dcp_loss_internal.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal::dcp_cases {

struct Case {
  Matrix<float> points, context;
  DcpInput input() const {
    DcpInput in;
    in.points = points;
    in.context = context;
    return in;
  }
};

inline Matrix<float> rows(int64_t d, std::initializer_list<double> values) {
  Matrix<float> m(static_cast<int64_t>(values.size()) / d, d);
  int64_t i = 0;
  for (const double v : values) m.data()[i++] = static_cast<float>(v);
  return m;
}

// Golden case 1 of the method's note.
inline Case line() { return {rows(1, {-2, -1, 1, 2}), rows(1, {0})}; }

// Golden case 2: an L of ten points and a block of twelve.
inline Case ell() {
  Case c{Matrix<float>(10, 2), Matrix<float>(12, 2)};
  for (int j = 0; j < 6; ++j) c.points(j, 1) = static_cast<float>(j);
  for (int i = 1; i < 5; ++i) c.points(5 + i, 0) = static_cast<float>(i);
  int64_t at = 0;
  for (int i = 2; i <= 4; ++i)
    for (int j = 2; j <= 5; ++j, ++at) {
      c.context(at, 0) = static_cast<float>(i);
      c.context(at, 1) = static_cast<float>(j);
    }
  return c;
}

// Golden case 4: histograms of four bins.
inline Case histograms() {
  return {rows(4, {4, 1, 0, 1, 5, 0, 1, 0, 4, 2, 0, 0, 0, 1, 4, 1, 1, 0, 5, 0, 0, 0, 4, 2}),
          rows(4, {2, 2, 2, 2, 1, 3, 1, 3, 3, 1, 3, 1, 0, 4, 0, 4})};
}

// The settings of the golden cases: not centred, bias 1.
inline DcpOptions golden_options(DcpLoss loss, double cost, int num_clusters = 2) {
  DcpOptions options = margin_dcp_options();
  options.loss = loss;
  options.cost = cost;
  options.num_clusters = num_clusters;
  options.center = false;
  return options;
}

}  // namespace milieu::internal::dcp_cases

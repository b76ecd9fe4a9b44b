// SPDX-License-Identifier: Apache-2.0
// A cost that is linear in the weights: constant + sum of coefficient * w[index]. Unaries and
// factors of a CRF are made of them [Komodakis11, section 5].
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

struct LinearCost {
  double constant = 0;
  std::vector<std::pair<int, double>> terms;  // weight and its coefficient

  double value(std::span<const double> w) const {
    double sum = constant;
    for (const auto& [index, coefficient] : terms) sum += coefficient * w[index];
    return sum;
  }
  void add_gradient(double factor, std::span<double> gradient) const {
    for (const auto& [index, coefficient] : terms) gradient[index] += factor * coefficient;
  }
};

// A cost that does not depend on w.
inline LinearCost constant_cost(double value) { return {value, {}}; }
// coefficient * w[index].
inline LinearCost weighted_cost(int index, double coefficient = 1) {
  return {0, {{index, coefficient}}};
}

}  // namespace milieu

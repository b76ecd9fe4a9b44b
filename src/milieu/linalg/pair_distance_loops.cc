// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): plain loops that the compiler vectorises.
#include "milieu/linalg/pair_distance_loops.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

constexpr int kLanes = 16;

// Sum of term(a_t, b_t) over the coordinates, through partial sums in a fixed order.
template <class Term>
double sum_terms(const float* a, const float* b, int64_t d, Term term) {
  double lanes[kLanes] = {};
  int64_t t = 0;
  for (; t + kLanes <= d; t += kLanes)
    for (int l = 0; l < kLanes; ++l) lanes[l] += term(a[t + l], b[t + l]);
  for (int l = 0; t < d; ++t, ++l) lanes[l] += term(a[t], b[t]);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
}

}  // namespace

double l1_distance(const float* a, const float* b, int64_t d) {
  return sum_terms(a, b, d, [](double x, double y) { return x > y ? x - y : y - x; });
}

double chi_squared_distance(const float* a, const float* b, int64_t d) {
  return sum_terms(a, b, d, [](double x, double y) {
    const double sum = x + y;
    const double difference = x - y;
    return difference * difference / (sum > 0 ? sum : 1.0);  // 0 / 1 where both are 0
  });
}

double additive_chi_squared(const float* a, const float* b, int64_t d) {
  return sum_terms(a, b, d, [](double x, double y) {
    const double sum = x + y;
    return 2 * x * y / (sum > 0 ? sum : 1.0);  // 0 / 1 where both are 0
  });
}

double sum_of_minima(const float* a, const float* b, int64_t d) {
  return sum_terms(a, b, d, [](double x, double y) { return x < y ? x : y; });
}

double dot_product(const float* a, const float* b, int64_t d) {
  return sum_terms(a, b, d, [](double x, double y) { return x * y; });
}

}  // namespace milieu::internal::MILIEU_ISA

// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): the loops of the theta-step over V coordinates.
#include "milieu/dlgmm/dlgmm_loops.h"
#include "milieu/linalg/simd_exp.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

constexpr int kLanes = 8;

// Coordinates v to v + 7; those from `count` on are not there: `filler` is read, nothing written.
struct Chunk {
  int64_t v = 0;
  int64_t count = 0;

  Double8 load(const double* from, double filler = 0) const {
    return load_part<Double8>(from + v, count - v, filler);
  }
  void store(const Double8& values, double* to) const { store_part(values, count - v, to + v); }
};

}  // namespace

double dlgmm_exponents(const double* a, const double* t, int64_t count, double* exponents,
                       double* sum) {
  const double first = a[0] + 0.5 * t[0];
  Double8 largest = Double8{} + first;
  for (int64_t v = 0; v < count; v += kLanes) {
    const Chunk at{v, count};
    largest = max_of(largest, at.load(a, first) + 0.5 * at.load(t));
  }
  double shift = largest[0];
  for (int l = 1; l < kLanes; ++l) shift = largest[l] > shift ? largest[l] : shift;
  Double8 lanes = {};
  for (int64_t v = 0; v < count; v += kLanes) {
    const Chunk at{v, count};
    const Double8 parts = exp_of(at.load(a, -__builtin_inf()) + 0.5 * at.load(t) - shift);
    lanes += parts;  // zeros behind the end
    at.store(parts, exponents);
  }
  *sum = sum_lanes(lanes);
  return shift;
}

// Behind the end every loop has a = mean = n = 0, precision = t = 1 and no share of the sums.
double dlgmm_theta_value(const double* a, const double* t, const double* n, const double* precision,
                         const double* mean, int64_t count) {
  Double8 lanes = {};
  for (int64_t v = 0; v < count; v += kLanes) {
    const Chunk at{v, count};
    const Double8 x = at.load(a);
    const Double8 away = x - at.load(mean);
    lanes += at.load(n) * x - 0.5 * at.load(precision) * (away * away + at.load(t, 1));
  }
  return sum_lanes(lanes);
}

void dlgmm_theta_direction(const double* a, const double* t, const double* n,
                           const double* precision, const double* mean, const double* exponents,
                           double sum, double total, int64_t count, double* xa, double* xt,
                           double* ua, double* ut, double* totals) {
  const double scale = 1.0 / sum;
  Double8 gx = {}, ux = {}, rest = {};
  for (int64_t v = 0; v < count; v += kLanes) {
    const Chunk at{v, count};
    const Double8 A = at.load(precision, 1);
    const Double8 s = at.load(exponents) * scale;
    const Double8 h = total * s;
    const Double8 inverse_t = 1.0 / at.load(t, 1);
    const Double8 k = 0.5 * inverse_t * inverse_t;
    const Double8 ga = at.load(n) - h - A * (at.load(a) - at.load(mean));
    const Double8 gt = 0.5 * (inverse_t - h - A);
    const Double8 p = A + h, r = 0.5 * h, q = 0.25 * h + k;
    const Double8 inverse = 1.0 / (0.25 * A * h + A * k + h * k);
    const Double8 xa_v = (q * ga - r * gt) * inverse;
    const Double8 xt_v = (p * gt - r * ga) * inverse;
    at.store(xa_v, xa);
    at.store(xt_v, xt);
    at.store(s * k * inverse, ua);
    at.store(0.5 * s * A * inverse, ut);
    gx += ga * xa_v + gt * xt_v;
    ux += s * (xa_v + 0.5 * xt_v);
    rest += s * A * k * inverse;
  }
  totals[0] = sum_lanes(gx);
  totals[1] = sum_lanes(ux);
  totals[2] = sum_lanes(rest);
}

double dlgmm_theta_aim(double factor, const double* ua, const double* ut, const double* t,
                       int64_t count, double* xa, double* xt) {
  Double8 lanes = {};
  for (int64_t v = 0; v < count; v += kLanes) {
    const Chunk at{v, count};
    at.store(at.load(xa) + factor * at.load(ua), xa);
    const Double8 aimed = at.load(xt) + factor * at.load(ut);
    at.store(aimed, xt);
    lanes = min_of(lanes, aimed / at.load(t, 1));
  }
  double least = 0;
  for (int l = 0; l < kLanes; ++l) least = lanes[l] < least ? lanes[l] : least;
  return least;
}

void dlgmm_theta_move(const double* a, const double* t, double length, const double* xa,
                      const double* xt, int64_t count, double* next_a, double* next_t) {
  for (int64_t v = 0; v < count; ++v) next_a[v] = a[v] + length * xa[v];
  for (int64_t v = 0; v < count; ++v) next_t[v] = t[v] + length * xt[v];
}

double dlgmm_theta_gap(const double* a, const double* t, const double* n, const double* precision,
                       const double* mean, const double* exponents, double sum, double total,
                       int64_t count) {
  const double scale = total / sum;
  Double8 lanes = {};
  for (int64_t v = 0; v < count; v += kLanes) {
    const Chunk at{v, count};
    const Double8 A = at.load(precision, 1);
    const Double8 h = scale * at.load(exponents);
    const Double8 ga = at.load(n) - h - A * (at.load(a) - at.load(mean));
    const Double8 y = at.load(t, 1) * (A + h);
    lanes += 0.5 * (ga * ga / A + (y - 1.0) * (y - 1.0) / y);
  }
  return sum_lanes(lanes);
}

}  // namespace milieu::internal::MILIEU_ISA

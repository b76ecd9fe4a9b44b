// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): the loops of the theta-step over V coordinates.
#include "milieu/dlgmm/dlgmm_lanes_internal.h"
#include "milieu/dlgmm/dlgmm_loops.h"

namespace milieu::internal::MILIEU_ISA {

double dlgmm_exponents(const double* a, const double* t, int64_t count, double* exponents,
                       double* sum) {
  const double first = a[0] + 0.5 * t[0];
  Doubles largest = Doubles{} + first;
  for (int64_t v = 0; v < count; v += kLanes)
    largest = larger(largest, load_from(a, v, count, first) + 0.5 * load_from(t, v, count, 0));
  double shift = largest[0];
  for (int l = 1; l < kLanes; ++l) shift = largest[l] > shift ? largest[l] : shift;
  Doubles lanes = {};
  for (int64_t v = 0; v < count; v += kLanes) {
    const Doubles parts =
        exp_of(load_from(a, v, count, -__builtin_inf()) + 0.5 * load_from(t, v, count, 0) - shift);
    lanes += parts;  // zeros behind the end
    store_to(parts, v, count, exponents);
  }
  *sum = total_of(lanes);
  return shift;
}

// Behind the end every loop has a = mean = n = 0, precision = t = 1 and no share of the sums.
double dlgmm_theta_value(const double* a, const double* t, const double* n, const double* precision,
                         const double* mean, int64_t count) {
  Doubles lanes = {};
  for (int64_t v = 0; v < count; v += kLanes) {
    const Doubles x = load_from(a, v, count, 0);
    const Doubles away = x - load_from(mean, v, count, 0);
    lanes += load_from(n, v, count, 0) * x -
             0.5 * load_from(precision, v, count, 0) * (away * away + load_from(t, v, count, 1));
  }
  return total_of(lanes);
}

void dlgmm_theta_direction(const double* a, const double* t, const double* n,
                           const double* precision, const double* mean, const double* exponents,
                           double sum, double total, int64_t count, double* xa, double* xt,
                           double* ua, double* ut, double* totals) {
  const double scale = 1.0 / sum;
  Doubles gx = {}, ux = {}, rest = {};
  for (int64_t v = 0; v < count; v += kLanes) {
    const Doubles A = load_from(precision, v, count, 1);
    const Doubles s = load_from(exponents, v, count, 0) * scale;
    const Doubles h = total * s;
    const Doubles inverse_t = 1.0 / load_from(t, v, count, 1);
    const Doubles k = 0.5 * inverse_t * inverse_t;
    const Doubles ga = load_from(n, v, count, 0) - h -
                       A * (load_from(a, v, count, 0) - load_from(mean, v, count, 0));
    const Doubles gt = 0.5 * (inverse_t - h - A);
    const Doubles p = A + h, r = 0.5 * h, q = 0.25 * h + k;
    const Doubles inverse = 1.0 / (0.25 * A * h + A * k + h * k);
    const Doubles xa_v = (q * ga - r * gt) * inverse;
    const Doubles xt_v = (p * gt - r * ga) * inverse;
    store_to(xa_v, v, count, xa);
    store_to(xt_v, v, count, xt);
    store_to(s * k * inverse, v, count, ua);
    store_to(0.5 * s * A * inverse, v, count, ut);
    gx += ga * xa_v + gt * xt_v;
    ux += s * (xa_v + 0.5 * xt_v);
    rest += s * A * k * inverse;
  }
  totals[0] = total_of(gx);
  totals[1] = total_of(ux);
  totals[2] = total_of(rest);
}

double dlgmm_theta_aim(double factor, const double* ua, const double* ut, const double* t,
                       int64_t count, double* xa, double* xt) {
  Doubles lanes = {};
  for (int64_t v = 0; v < count; v += kLanes) {
    store_to(load_from(xa, v, count, 0) + factor * load_from(ua, v, count, 0), v, count, xa);
    const Doubles aimed = load_from(xt, v, count, 0) + factor * load_from(ut, v, count, 0);
    store_to(aimed, v, count, xt);
    lanes = smaller(lanes, aimed / load_from(t, v, count, 1));
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
  Doubles lanes = {};
  for (int64_t v = 0; v < count; v += kLanes) {
    const Doubles A = load_from(precision, v, count, 1);
    const Doubles h = scale * load_from(exponents, v, count, 0);
    const Doubles ga = load_from(n, v, count, 0) - h -
                       A * (load_from(a, v, count, 0) - load_from(mean, v, count, 0));
    const Doubles y = load_from(t, v, count, 1) * (A + h);
    lanes += 0.5 * (ga * ga / A + (y - 1.0) * (y - 1.0) / y);
  }
  return total_of(lanes);
}

}  // namespace milieu::internal::MILIEU_ISA

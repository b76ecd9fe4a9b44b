// SPDX-License-Identifier: Apache-2.0
// The hot loops of DLGMM, compiled for each instruction set. Sums run in eight fixed lanes and
// products are never contracted: the same bits on every set.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

namespace milieu::internal {
inline constexpr int64_t kSelectSlack = 16;
}  // namespace milieu::internal

// dlgmm_select: words whose scores[v] + bias[v] is at least the largest one minus `cut`, ascending,
// into `words`, which has room for count + kSelectSlack; returns how many.
//
// dlgmm_center: out = x - center; returns the sum of its squares in float.
//
// The patches of one word w: x_k = patches + rows[k] * stride, k < count.
// dlgmm_distances: out[k] = sum_r (x_kr - w_r)^2. dlgmm_weighted_distance: of one patch, with
// factors s_r.
// dlgmm_add: first += sum_k shares[k] (x_k - w), one after the other. dlgmm_add_squares: second +=
// share (x - w)^2 for one patch.
//
// dlgmm_softmax: log_phi = scores - log sum exp scores, phi = exp of it.
//
// The theta-step works on V coordinates (docs/algorithms/dlgmm.md, "The theta-step"):
// dlgmm_exponents: exponents[v] = exp(a + t / 2 - shift), with shift the largest a + t / 2, which
// is returned; *sum is their sum.
// dlgmm_theta_value: sum_v n a - precision ((a - mean)^2 + t) / 2.
// dlgmm_theta_direction: with s = exponents / sum and N the total: x = M^-1 g (xa, xt) and
// y = M^-1 u (ua, ut), and totals = {g'x, u'x, 1 - N u'y}.
// dlgmm_theta_aim: x += factor y; returns the least xt / t. dlgmm_theta_move: next = (a, t) +
// length x. dlgmm_theta_gap: by how much the objective can at most be larger elsewhere, sum_v ga^2
// / (2 precision) + (y - 1)^2 / (2 y), y = t (precision + N s), which is at least (y - 1 - log y)
// / 2.
MILIEU_DECLARE_ISA(
    int64_t dlgmm_select(const float* scores, const float* bias, int64_t count, float cut,
                         int* words);
    float dlgmm_center(const float* x, const float* center, int64_t dim, float* out);
    void dlgmm_distances(const float* patches, int64_t stride, const int* rows, int64_t count,
                         const double* w, int64_t dim, double* out);
    double dlgmm_weighted_distance(const float* x, const double* w, const double* s, int64_t count);
    void dlgmm_add(const float* patches, int64_t stride, const int* rows, const double* shares,
                   int64_t count, const double* w, int64_t dim, double* first);
    void dlgmm_softmax(const double* scores, int64_t count, double* phi, double* log_phi);
    void dlgmm_add_squares(double share, const float* x, const double* w, int64_t count,
                           double* second);
    double dlgmm_exponents(const double* a, const double* t, int64_t count, double* exponents,
                           double* sum);
    double dlgmm_theta_value(const double* a, const double* t, const double* n,
                             const double* precision, const double* mean, int64_t count);
    void dlgmm_theta_direction(const double* a, const double* t, const double* n,
                               const double* precision, const double* mean, const double* exponents,
                               double sum, double total, int64_t count, double* xa, double* xt,
                               double* ua, double* ut, double* totals);
    double dlgmm_theta_aim(double factor, const double* ua, const double* ut, const double* t,
                           int64_t count, double* xa, double* xt);
    void dlgmm_theta_move(const double* a, const double* t, double length, const double* xa,
                          const double* xt, int64_t count, double* next_a, double* next_t);
    double dlgmm_theta_gap(const double* a, const double* t, const double* n,
                           const double* precision, const double* mean, const double* exponents,
                           double sum, double total, int64_t count);)

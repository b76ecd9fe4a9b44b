// SPDX-License-Identifier: Apache-2.0
// The hot loops of DLGMM, compiled for each instruction set. Sums run in eight fixed lanes and
// products are never contracted: the same bits on every set.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

// dlgmm_select: words whose scores[v] + bias[v] is at least the largest one minus `cut`, ascending,
// into `words`; returns how many.
//
// dlgmm_center: out = x - center; returns the sum of its squares in float.
//
// dlgmm_distances: for the rows ids[a] of `words` (each `dim` long) out[a] = sum_r (x_r - w_r)^2.
// dlgmm_weighted_distance: of one word, with factors s_r.
//
// dlgmm_add: rows ids[a] of `first` += shares[a] (x - w). dlgmm_add_squares: second += share
// (x - w)^2 for one word.
//
// dlgmm_softmax: log_phi = scores - log sum exp scores, phi = exp of it.
//
// The theta-step works on V coordinates (docs/algorithms/dlgmm.md, "The theta-step"):
// dlgmm_exponents: exponents[v] = exp(a + t / 2 - shift), with shift the largest a + t / 2, which
// is returned; *sum is their sum.
// dlgmm_theta_value: sum_v n a - precision ((a - mean)^2 + t) / 2.
// dlgmm_theta_direction: with s = exponents / sum and N the total: x = M^-1 g (xa, xt) and
// y = M^-1 u (ua, ut), and totals = {g'x, u'x, 1 - N u'y}.
MILIEU_DECLARE_ISA(
    int64_t dlgmm_select(const float* scores, const float* bias, int64_t count, float cut,
                         int* words);
    float dlgmm_center(const float* x, const float* center, int64_t dim, float* out);
    void dlgmm_distances(const float* x, const double* words, int64_t dim, const int* ids,
                         int64_t count, double* out);
    double dlgmm_weighted_distance(const float* x, const double* w, const double* s, int64_t count);
    void dlgmm_add(const float* x, const double* words, int64_t dim, const int* ids,
                   const double* shares, int64_t count, double* first);
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
                               double* ua, double* ut, double* totals);)

// SPDX-License-Identifier: Apache-2.0
// Hot loops of the batched objective and of the exact classifiers, one copy for each instruction
// set. Arrays are plain; sums run in fixed lanes.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

// A loss by number: 0 hinge (width ignored), 1 squared hinge, 2 Huber of half width `width`,
// 3 logistic.
//
// hard_max_block: `f` holds num_parts rows of `count` values, `stride` apart. Returns sum_i w_i
// phi(1 - max_k f_ki) and replaces f_ki by its derivative, times `cost`. Ties go to the lowest k.
// context_block: the same for sum_k sum_i w_i phi(1 + f_ki).
// given_part_block: the same for sum_i w_i phi(1 - f_{labels_i i}).
// `weights` may be null: all 1.
// argmax_block: the lowest k with the largest f_ki.
// add_weighted_outer: h += sum_i weights_i x_i x_i^T for rows x_i of `rows`; lower triangle of the
// d x d matrix h, row-major; what is above the diagonal is undefined.
// add_scaled_rows: out += sum_i weights_i x_i.
// row_products: out_i = <x_i, v>.
MILIEU_DECLARE_ISA(double hard_max_block(float* f, int64_t stride, int num_parts, int64_t count,
                                         const float* weights, int loss, float width, float cost);
                   double context_block(float* f, int64_t stride, int num_parts, int64_t count,
                                        const float* weights, int loss, float width, float cost);
                   double given_part_block(float* f, int64_t stride, int num_parts, int64_t count,
                                           const float* weights, const int* labels, int loss,
                                           float width, float cost);
                   void argmax_block(const float* f, int64_t stride, int num_parts, int64_t count,
                                     int* labels);
                   void add_weighted_outer(const double* rows, int64_t count, int64_t d,
                                           const double* weights, double* h);
                   void add_scaled_rows(const double* rows, int64_t count, int64_t d,
                                        const double* weights, double* out);
                   void row_products(const double* rows, int64_t count, int64_t d, const double* v,
                                     double* out);)

// SPDX-License-Identifier: Apache-2.0
// The two products of a pass over the data, for few planes and many rows: what a library's matrix
// product spends on packing the rows, in every pass, costs more than the product itself here.
// One copy for each instruction set; sums run in a fixed order.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

namespace milieu::internal {

// Planes are packed in vectors of this many features; rows must have at least one vector.
inline constexpr int64_t kPlaneLanes = 16;

// Floats of one packed plane.
inline int64_t packed_size(int64_t d) { return (d + kPlaneLanes - 1) / kPlaneLanes * kPlaneLanes; }

}  // namespace milieu::internal

// Arrays: rows is count x d, d >= kPlaneLanes; f is num_planes x count, rows `stride` apart.
//
// pack_plane: d features of a plane as whole vectors; the last one belongs to the last kPlaneLanes
// features of a row, with 0 for those that vectors before it have.
// plane_products: f_pi = <plane_p, x_i> for packed planes, 64-byte aligned.
// add_dense_slopes: total_p += sum_i f_pi x_i; total is num_planes x d.
MILIEU_DECLARE_ISA(void pack_plane(const double* plane, int64_t d, float* packed);
                   void plane_products(const float* packed, int64_t num_planes, const float* rows,
                                       int64_t count, int64_t d, float* f, int64_t stride);
                   void add_dense_slopes(const float* f, int64_t stride, int64_t num_planes,
                                         const float* rows, int64_t count, int64_t d,
                                         double* total);)

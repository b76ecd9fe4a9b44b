// SPDX-License-Identifier: Apache-2.0
// The one big float product of Milieu. Single-threaded: callers parallelise over fixed blocks.
// `milieu info` prints which library and instruction set was chosen.
#pragma once

#include <string>

#include "milieu/base/export.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// out = alpha * a * b + beta * out; a is m x k, b is k x n, out is m x n (any strides).
void gemm(float alpha, FloatView a, FloatView b, float beta, MatrixView<float> out);

// out = alpha * a * b^T + beta * out; a is m x k, b is n x k: the products of all pairs of rows.
void gemm_nt(float alpha, FloatView a, FloatView b, float beta, MatrixView<float> out);

// "oneDNN 2.6.3, kernels x86-64-v3": for `milieu info` and the bench's tables.
std::string describe_gemm();

}  // namespace milieu

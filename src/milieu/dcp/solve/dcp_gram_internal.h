// SPDX-License-Identifier: Apache-2.0
// The Gram matrix of samples and context, and its factor.
#pragma once

#include <string>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/dcp/dcp.h"
#include "milieu/linalg/kernel.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// The kernel with its numbers; gamma 0 is replaced by one that suits the data.
KernelSpec resolve_kernel(const DcpInput& input, const DcpOptions& options);
KernelSpec kernel_of_model(const DcpModel& model);
std::string kernel_name(DcpKernel kernel);

// Samples, then context.
Matrix<float> join_rows(const DcpInput& input);

struct GramMatrix {
  Matrix<double> values;       // N x N, centred and scaled as asked, plus B^2; empty: stopped
  std::vector<double> shares;  // N weights of the rows that sum to 1; empty: equal
  bool is_centered = false;
  std::vector<double> row_means;  // N, of the kernel itself
  double total_mean = 0;
  double scale = 1;          // factor of the (centred) kernel
  double precision = 1e-13;  // of the largest entry; given matrices are rounded to float
};
GramMatrix compute_gram(const DcpInput& input, const DcpOptions& options, const KernelSpec& spec,
                        Monitor& monitor);

// G G^T = gram, G lower triangular in the order of the pivots.
struct PivotedFactor {
  Matrix<double> rows;          // N x r; empty when stopped
  std::vector<int64_t> pivots;  // r: row pivots[j] has its last entry at column j
};
// Entries are right to `precision` of the largest one: less than that counts as 0. Throws
// InvalidArgument when `gram` is not positive semi-definite.
PivotedFactor factor_gram(Matrix<double> gram, double precision, int num_threads,
                          const Monitor& monitor);

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// Only what needs Spectra: see ncut_solvers_internal.h.
#include <Spectra/SymEigsSolver.h>

#include <algorithm>

#include "milieu/classic/ncut/ncut_solvers_internal.h"

namespace milieu::internal {
namespace {

// The operator in the form that Spectra asks for.
struct Operator {
  using Scalar = double;

  Eigen::Index rows() const { return n; }
  Eigen::Index cols() const { return n; }
  void perform_op(const double* x, double* y) const { multiply(x, y); }

  int64_t n;
  const std::function<void(const double*, double*)>& multiply;
};

}  // namespace

EigenPairs solve_lanczos(const std::function<void(const double* x, double* y)>& multiply,
                         std::span<const double> start, const LanczosOptions& options) {
  Operator op{static_cast<int64_t>(start.size()), multiply};
  const int64_t basis = std::min(op.n, std::max(2 * options.count + 1, options.count + 32));
  Spectra::SymEigsSolver<Operator> solver(op, options.count, basis);
  solver.init(start.data());
  solver.compute(Spectra::SortRule::LargestAlge, options.max_iterations, options.tolerance,
                 Spectra::SortRule::LargestAlge);
  const Eigen::VectorXd values = solver.eigenvalues();
  const Eigen::MatrixXd vectors = solver.eigenvectors();
  EigenPairs pairs;
  pairs.vectors = Matrix<double>(values.size(), op.n);
  for (int64_t c = 0; c < values.size(); ++c) {
    pairs.values.push_back(values[c]);
    for (int64_t i = 0; i < op.n; ++i) pairs.vectors(c, i) = vectors(i, c);
  }
  return pairs;
}

}  // namespace milieu::internal

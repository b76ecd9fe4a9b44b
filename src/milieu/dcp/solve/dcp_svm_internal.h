// SPDX-License-Identifier: Apache-2.0
// One large-margin classifier, solved in double to a proven gap: a part of the samples (or shares
// of all of them) against the whole context [Lampert08, Eq. 5].
#pragma once

#include <span>
#include <vector>

#include "milieu/dcp/dcp_problem_internal.h"

namespace milieu::internal {

// Features of a problem in double: as a copy where it is small, else recomputed block by block.
// After the monitor stops it, the functions return unspecified values.
class ExactRows {
 public:
  ExactRows(const DcpProblem& problem, const Monitor& monitor);

  int64_t rows() const { return problem_.num_rows(); }
  int64_t cols() const { return problem_.d; }
  // <x_i, v> of all rows.
  std::vector<double> products(std::span<const double> v) const;
  // sum_i coefficients_i x_i; rows of coefficient 0 cost nothing but their reading.
  std::vector<double> combination(std::span<const double> coefficients) const;
  // sum_i weights_i x_i x_i^T, lower triangle, D x D row-major.
  std::vector<double> second_moment(std::span<const double> weights) const;

 private:
  // Rows [begin, end) whose coefficient is not 0, one after the other, and their coefficients.
  struct Gathered {
    std::vector<double> rows, coefficients;
    int64_t count() const { return static_cast<int64_t>(coefficients.size()); }
  };
  Gathered gather(int64_t begin, int64_t end, std::span<const double> coefficients) const;
  int64_t moment_rows() const;  // of a block of second_moment: each has its own matrix

  const DcpProblem& problem_;
  const Monitor& monitor_;
  Matrix<double> copy_;  // empty: too large
};

struct Classifier {
  std::vector<double> plane;  // D
  double objective = 0;       // 1/2 |w|^2 + losses
  double gap = 0;             // objective minus a proven lower bound of it
  int iterations = 0;
  bool is_solved = true;  // false: stopped, or the gap stayed above the tolerance
};

// Minimises 1/2 |w|^2 + sum_i charges_i phi(1 - y_i <w, x_i>), y = 1 for samples, -1 for the
// context; `charges` (n + m, >= 0) hold cost, weight and share. Starts at `start` (empty: 0) and
// stops when the gap is at most `rel_gap` of the objective.
Classifier solve_classifier(const ExactRows& rows, const DcpProblem& problem,
                            std::span<const double> charges, std::span<const double> start,
                            double rel_gap, const Monitor& monitor);

}  // namespace milieu::internal

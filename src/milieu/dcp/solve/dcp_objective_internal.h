// SPDX-License-Identifier: Apache-2.0
// The objective of many restarts in one pass over the data: the planes of all of them are one
// matrix, so that the products with the samples are two big ones (linalg/gemm.h).
#pragma once

#include <span>
#include <vector>

#include "milieu/dcp/dcp_problem_internal.h"

namespace milieu::internal {

// Which part pays for a sample.
enum class PartRule {
  HardMax,     // the one with the largest f_k [Lampert08, Eq. 8]
  SoftMax,     // phi(1 - tau^-1 log sum_k exp(tau f_k)): `level` is tau
  FreeEnergy,  // -T log sum_k exp(-C phi(1 - f_k) / T): `level` is T
  Given,       // the one in `labels` [Lampert08, Eq. 5]
  Shared,      // all, by the shares p_ik in `shares` [Lampert08, section 3.2.1]
};

// One minimisation of the batch: a point, and the objective there.
struct Lane {
  std::span<const double> planes;  // K x D
  PartRule rule = PartRule::HardMax;
  double level = 0;
  double cost = 0;
  LossShape loss;
  const int* labels = nullptr;            // n, for Given
  const Matrix<float>* shares = nullptr;  // K x n, for Shared
  double value = 0;                       // out: J
  std::vector<double> gradient;           // out: K x D
};

// Fills value and gradient of every lane. Products and sums of blocks in float, the rest in double.
// False, with unspecified values, when the monitor stops it.
bool evaluate(const DcpProblem& problem, std::span<Lane> lanes, const Monitor& monitor);

// Part of each sample under each set of planes; ties to the lowest.
std::vector<std::vector<int>> label_samples(const DcpProblem& problem,
                                            const std::vector<std::span<const double>>& planes);

// f_k of every sample: K x n.
Matrix<float> sample_values(const DcpProblem& problem, std::span<const double> planes);

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the cluster layer.
#pragma once

#include <span>
#include <vector>

#include "milieu/dlgmm/dlgmm_steps.h"

namespace milieu::internal {

// A = sum_j zeta_j Sigma_jg^-1 and the m with A m = sum_j zeta_j Sigma_jg^-1 mu_jg.
void mix_full_precisions(const ClusterPrior& prior, int g, std::span<const double> zeta,
                         Matrix<double>& precision, std::vector<double>& mean);

}  // namespace milieu::internal

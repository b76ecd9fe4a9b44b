// SPDX-License-Identifier: Apache-2.0
// How clearly the parts of a split stand apart, and how far to trust it: figures that can be
// compared between contexts, floors of the whitening and sets.
#pragma once

#include <span>
#include <vector>

#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// Along the direction in which part k is told from the others, f_k - mean of the other f: by how
// many nats per sample two normals of equal variance describe the samples better than one, minus
// the same for the context. Mean over the parts. `values` and `context_values` are n x K and m x K
// decision values, the weights empty or one per row. 0 for one part.
double measure_separation(const Matrix<double>& values, const std::vector<int>& labels,
                          const Matrix<double>& context_values, std::span<const double> weights,
                          std::span<const double> context_weights);

// The share of samples that a split of this separation puts right, as measured on pairs of USPS
// digits (docs/experiments/dcp.md): between 0.5 and 1.
double confidence_of(double separation);

}  // namespace milieu::internal

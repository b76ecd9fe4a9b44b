// SPDX-License-Identifier: Apache-2.0
// The precomputed kernel of dcp when set and context are rows of one square file.
#pragma once

#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/dataset.h"
#include "milieu/dcp/dcp_rank.h"
#include "milieu/input/input.h"

namespace MILIEU_API milieu {

// What fit_dcp takes: similarities with the samples of the set, then of the context.
struct KernelRows {
  Matrix<float> points, context;
};

// Throws DataError unless INPUT is square, InvalidArgument when the context is not taken from it.
KernelRows kernel_rows(const Input& input, const Dataset& context);

}  // namespace milieu

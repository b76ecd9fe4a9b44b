// SPDX-License-Identifier: Apache-2.0
// Sparse matrices in MatrixMarket's coordinate text format, read as groups (groups.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "milieu/data/groups.h"

namespace milieu::internal {

// Starts with %%MatrixMarket.
bool looks_like_matrix_market(std::string_view text);

// General: as it stands. Any: symmetric matrices too, of which the file holds one half.
enum class MatrixSymmetry { General, Any };

// Rows are groups, columns samples; `num_samples` (-1: not known) must equal the number of columns.
// Weights must be finite and at least 0. Throws DataError.
Groups parse_matrix_market(std::string_view text, const std::string& source, int64_t num_samples,
                           MatrixSymmetry symmetry = MatrixSymmetry::General);

}  // namespace milieu::internal

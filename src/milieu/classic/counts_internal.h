// SPDX-License-Identifier: Apache-2.0
// What the methods that cluster counts (bags, jsom, multinomials, topics) share.
#pragma once

#include <cstdint>
#include <vector>

#include "milieu/linalg/matrix.h"

namespace milieu {

// Throws InvalidArgument for empty counts, DataError for counts that are negative, not finite or,
// where `is_whole` asks for it, not whole.
void check_counts(FloatView counts, bool is_whole = false);

// Throws InvalidArgument unless there are at least as many rows as clusters.
void check_num_clusters(int num_clusters, FloatView counts);

// Throws InvalidArgument unless new counts have the words of training.
void check_num_words(FloatView counts, int64_t num_words);

// The column of the largest entry of each row; ties go to the lowest index.
std::vector<int> strongest_columns(DoubleView shares);

// Square roots of the frequencies in each row; a row without words is zero.
Matrix<float> root_frequencies(FloatView counts);

}  // namespace milieu

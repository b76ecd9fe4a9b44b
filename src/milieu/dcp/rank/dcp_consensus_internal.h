// SPDX-License-Identifier: Apache-2.0
// How much the splits of a ranking agree, at a cost per split that does not grow with their number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace milieu::internal {

// Adjusted Rand index of two splits with labels in [0, num_parts).
double agreement(std::span<const int> split, std::span<const int> other, int num_parts);

// Of every split, its mean agreement with the others: all of them up to `most`, above that with
// `most` splits spread evenly over their order. 0 for a split that is alone.
std::vector<double> mean_agreement(std::span<const std::span<const int>> splits, int num_parts,
                                   int64_t most, int num_threads);

}  // namespace milieu::internal

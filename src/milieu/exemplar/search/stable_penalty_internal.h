// SPDX-License-Identifier: Apache-2.0
// The penalty that `stable` means.
#pragma once

#include <cstdint>
#include <functional>

#include "milieu/base/monitor.h"

namespace milieu::internal {

// Cost of serving p by q.
using PairCost = std::function<float(int64_t p, int64_t q)>;

// Sets of fewer samples have no sub-samples to speak of.
inline constexpr int64_t kMinStableSamples = 20;

// The penalty, from `first` (above 0) upwards, whose clusters change least when samples are left
// out, for a set of n >= kMinStableSamples samples. `first` where none gives two clusters or more,
// and if stopped.
double stable_penalty(int64_t n, const PairCost& cost, double first, uint64_t seed, int num_threads,
                      Monitor& monitor);

}  // namespace milieu::internal

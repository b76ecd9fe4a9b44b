// SPDX-License-Identifier: Apache-2.0
// How the first centres of k-means are drawn.
#pragma once

#include "milieu/base/monitor.h"
#include "milieu/base/random.h"
#include "milieu/classic/kmeans/kmeans_centers.h"
#include "milieu/classic/kmeans/kmeans_groups_internal.h"

namespace milieu::internal {

// k different points of positive weight, uniformly; when there are fewer than k of them, each once
// and then the first one again.
Matrix<float> draw_random_centers(const KMeansProblem& problem, Random& random);

// k-means++ [Arthur07]: the first centre is drawn with probability proportional to the weights,
// each further one proportionally to w D^2, D being the distance to the nearest centre so far. Of
// 2 + floor(ln k) candidates drawn so, the one is kept that lowers the sum of w D^2 most (the first
// drawn on a tie); for more than kSeedSample points that sum is taken over a random sample of them.
// When every point is a centre already the first point of positive weight is taken. A stopped
// monitor leaves the remaining centres to that last rule.
inline constexpr int64_t kSeedSample = 4096;
Matrix<float> draw_plus_plus_centers(const KMeansProblem& problem, const Scaling& scaling,
                                     const Random& random, const Monitor& monitor);

}  // namespace milieu::internal

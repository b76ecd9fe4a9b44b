// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <limits>

#include "milieu/base/parallel.h"
#include "milieu/classic/kmeans_assign_internal.h"
#include "milieu/linalg/distance.h"

namespace milieu::internal {

bool assign_nearest(FloatView points, FloatView centers, int num_threads, const Monitor& monitor,
                    std::span<int> labels) {
  std::atomic<bool> is_stopped = false;
  parallel_for(points.rows(), 256, num_threads, [&](const Block& block) {
    if (is_stopped || monitor.should_stop()) {
      is_stopped = true;
      return;
    }
    for (int64_t i = block.begin; i < block.end; ++i) {
      double nearest = std::numeric_limits<double>::infinity();
      for (int64_t j = 0; j < centers.rows(); ++j) {
        const double distance = squared_distance(points.row_span(i), centers.row_span(j));
        if (distance < nearest) {
          nearest = distance;
          labels[i] = static_cast<int>(j);
        }
      }
    }
  });
  return !is_stopped;
}

}  // namespace milieu::internal

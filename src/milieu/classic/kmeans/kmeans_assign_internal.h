// SPDX-License-Identifier: Apache-2.0
// The assignment step of k-means: every point gets the label of its nearest centre. "Nearest" is
// decided as if all distances were computed by squared_distance (linalg/distance.h, double), ties
// to the lowest index; the work is far less:
//
// 1. Centres are cut into groups of neighbours. Points and centres are quantised to 16-bit integers
//    and scored by integer products; the lowest scores of each group stay in registers
//    (kmeans_loops.h). Errors are bounded rigorously (kmeans_groups_internal.h).
// 2. Where the error bounds leave open which centre is nearest, exact distances decide.
// 3. From the second call on, bounds from the triangle inequality show which groups cannot hold the
//    nearest centre of a point, as in [Ding15]: an upper bound of the distance to the own centre, a
//    lower bound for each group, both kept up to date by what the centres moved; and the distances
//    between centres, as in [Elkan03]. Bounds are whole numbers of small steps, rounded to the safe
//    side, one byte for each point and group.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/classic/kmeans/kmeans_block_internal.h"
#include "milieu/classic/kmeans/kmeans_groups_internal.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

class NearestCenters {
 public:
  // The points must outlive the object, and so must `scales`: where given, one per point, each
  // point counts as scales[i] times what it is, and a point of scale 0 gets label 0.
  NearestCenters(FloatView points, Scaling scaling, int num_threads,
                 std::span<const double> scales = {});

  // Sets labels (n) for these centres (k x d). From the second call on labels must hold what the
  // call before wrote. Returns false when the monitor stopped it: then only some labels are set,
  // and the object must not be used again.
  bool assign(FloatView centers, const Monitor& monitor, std::span<int> labels);

  // The centres of the last call that was not stopped, and what it cost.
  FloatView centers() const { return centers_; }
  const AssignCost& cost() const { return cost_; }

 private:
  void begin_bounds(FloatView centers);
  void move_centers(FloatView centers);
  void separate_centers(AssignJob job);
  std::unique_ptr<BlockScratch> take_scratch();
  void give_scratch(std::unique_ptr<BlockScratch> scratch);

  FloatView points_;
  std::span<const double> scales_;
  Scaling scaling_;
  int num_threads_ = 0;
  int64_t block_size_ = 0;
  int num_calls_ = 0;
  CenterGroups groups_;
  PointBounds bounds_;
  Matrix<float> centers_;
  AssignCost cost_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<BlockScratch>> free_scratch_;
};

}  // namespace milieu::internal

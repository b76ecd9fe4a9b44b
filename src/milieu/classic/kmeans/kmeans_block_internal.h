// SPDX-License-Identifier: Apache-2.0
// The assignment step of k-means on one block of points: scan, score, decide. How it works is
// explained in kmeans_assign_internal.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "milieu/base/parallel.h"
#include "milieu/classic/kmeans/kmeans_groups_internal.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// Bounds of the distances between points and centres, in steps of 1 / steps_per_unit (of scaled
// distance). For point i with label l and any centre c other than l in group g:
//   |x_i - c_l| <= upper[i]
//   |x_i - c|   >= base[i] + lower[i * num_groups + g] - group_drifts[g]
// Drifts are what centres moved since the lower bounds were last brought up to date.
struct PointBounds {
  float steps_per_unit = 1;
  int num_groups = 0;
  std::vector<uint16_t> upper;        // n
  std::vector<uint16_t> base;         // n
  std::vector<uint8_t> lower;         // n * num_groups, and 64 more
  std::vector<float> group_drifts;    // num_groups, padded to 64
  std::vector<uint8_t> thresholds;    // 64: group_drifts rounded up
  std::vector<uint8_t> subtract;      // 64: to be taken from `lower` in this pass; empty: nothing
  std::vector<uint16_t> last_moves;   // k: what each centre moved before this pass, rounded up
  std::vector<uint16_t> separations;  // k x 64: lower bound of the distance from each centre to the
                                      // others of each group; empty: not known
};

// What a pass works on. `bounds` is null where every group is to be scored for every point.
struct AssignJob {
  FloatView points;
  std::span<const double> scales;  // of the points; empty: all 1
  FloatView centers;
  const Scaling* scaling = nullptr;
  const CenterGroups* groups = nullptr;
  PointBounds* bounds = nullptr;
  std::span<int> labels;  // in: of the last pass (bounds only); out
};

// What one block (or all) cost, for choosing parameters and for tests.
struct AssignCost {
  int64_t num_scored = 0;        // pairs of a point and a centre
  int64_t num_resolved = 0;      // points whose scores were too close to call
  double sum_squared_upper = 0;  // of scaled distances to the nearest centre

  void merge(const AssignCost& other);
};

// Relative error of a float sum of d squares as the loops compute it, rounded up.
float sum_error(int64_t d);

// A scaled distance in steps, rounded up; 65535 means that or more.
uint16_t steps_up(float distance, float steps_per_unit);

BoundTable bound_table(const AssignJob& job);

// Memory for one block; reused from block to block.
class BlockScratch {
 public:
  BlockScratch(int64_t block_size, int64_t row_length);

  // Labels the points of `block`, at most block_size of them.
  AssignCost assign(const AssignJob& job, const Block& block);
  // For the rows of `block` of job.centers, taken as points: lower bounds of the distances to the
  // other centres of each group, in steps, to out (64 per row).
  void separate(const AssignJob& job, const Block& block, std::span<uint16_t> out);

 private:
  struct Slot {
    int64_t point = 0;
    uint64_t groups = 0;     // to be scored
    float norm = 0;          // |x'| rounded up
    float squared_norm = 0;  // |x'|^2
    float rest = 0;          // what quantisation left of x', at most
    float own_squared = 0;   // scaled squared distance to the centre of its label, where known
  };

  // A centre that may be the nearest of the point at hand.
  struct Rival {
    float squared = 0;  // scaled squared distance, by differences in float
    int center = 0;
  };

  const float* row_of(const AssignJob& job, int64_t point);
  void scan(const AssignJob& job, const Block& block);
  bool is_settled(const AssignJob& job, int64_t point, Slot& slot);
  void add_slot(const AssignJob& job, const float* x, Slot slot);
  void score(const AssignJob& job, AssignCost& cost);
  void decide(const AssignJob& job, const BoundTable& table, int64_t s, AssignCost& cost);
  void lower_bound_of_old_center(const AssignJob& job, int64_t i, int old_label, float squared);
  void resolve(const AssignJob& job, const Slot& slot, const BoundResult& found, int label);
  void add_rival(const AssignJob& job, const float* x, int center);
  Rival nearest_rival(const AssignJob& job, const float* x) const;

  int64_t block_size_ = 0;
  int64_t row_length_ = 0;
  int64_t scaled_point_ = -1;      // whose row is in scaled_row_
  std::vector<float> scaled_row_;  // d, where points have scales
  std::vector<Slot> slots_;
  std::vector<Rival> rivals_;
  std::vector<float> scales_;
  Matrix<int16_t> rows_;
  Matrix<float> best_, second_;        // slot x 64
  Matrix<uint16_t> best_center_;       // slot x 64
  Matrix<uint16_t> slots_of_group_;    // 64 x slot
  std::vector<int64_t> num_of_group_;  // 64
};

}  // namespace milieu::internal

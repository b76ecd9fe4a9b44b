// SPDX-License-Identifier: Apache-2.0
// The hot loops of the assignment step of k-means, compiled for each instruction set; see
// kmeans_assign_internal.h for how they are put together. Rows are quantised to 16-bit integers, so
// that one instruction multiplies and adds twice as many numbers as in float; sums of integers are
// exact, so all instruction sets agree up to the rounding of a few floats, which the error margins
// of kmeans_groups cover.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

namespace milieu::internal {

// Quantised rows are this many numbers long, or a multiple; the rest is 0.
inline constexpr int64_t kQuantisedPadding = 32;
// Centres are scored in tiles of this many.
inline constexpr int64_t kCenterTile = 16;
// The norm of a quantised row is at most this (before rounding): sums of products of two rows stay
// below 2^31. Each number is at most kQuantisedLargest.
inline constexpr float kQuantisedNorm = 45000.0f;
inline constexpr float kQuantisedLargest = 32700.0f;

// What quantise_row says about a row x: x is about scale * integers.
struct QuantisedRow {
  float scale = 0;
  float squared_norm = 0;  // of the row before quantisation
  float rest = 0;          // upper bound of |x - scale * integers|
};

// Scores of some points against the centres of one group. The score of point x and centre c is
// |c|^2/2 - x.c: the smaller the nearer. Results go to [slot * result_stride] of the three arrays.
struct ScoreJob {
  const int16_t* points = nullptr;  // quantised rows
  const float* point_scales = nullptr;
  int64_t row_length = 0;           // of points and centres; a multiple of kQuantisedPadding
  const uint16_t* slots = nullptr;  // the points to score, as row numbers
  int64_t num_slots = 0;
  const int16_t* centers = nullptr;  // quantised tiles, see below
  float center_scale = 0;
  const float* half_norms = nullptr;  // |c|^2/2; large for padding
  int64_t num_centers = 0;            // a multiple of kCenterTile
  float* best = nullptr;              // lowest score
  float* second = nullptr;            // second lowest, equal to it on a tie
  uint16_t* best_center = nullptr;    // position in the group of one centre with the lowest score
  int64_t result_stride = 0;
};

// The score of a group that was not scored; scores of padding (1e38) stay below it.
inline constexpr float kNotScored = 3e38f;

// What the bounds of all points have in common during a pass. Arrays by group are readable up to a
// multiple of 16.
struct BoundTable {
  // By group: a score is wrong by at most rest * largest_norm + norm * slope + offset.
  const float* largest_norms = nullptr;
  const float* slopes = nullptr;
  const float* offsets = nullptr;
  float sum_error = 0;  // relative error of squared norms and distances
  // A bound of distance b is stored as floor(b * steps_per_unit + drifts[g] - base), cut to a byte.
  const float* drifts = nullptr;  // by group
  float steps_per_unit = 0;
  int64_t count = 0;  // groups, at most 64
};

// The scores of one point.
struct BoundJob {
  uint64_t groups = 0;            // those that were scored
  const float* best = nullptr;    // by group, kNotScored where score_group was not called
  const float* second = nullptr;  // by group
  float rest = 0;                 // of the quantised point
  float norm = 0;                 // of the point, rounded up
  float squared_norm = 0;
  float own_squared = 0;      // squared distance to a centre outside the scored groups (may be
                              // infinite: not known), or kNotScored: there is none
  uint8_t* bounds = nullptr;  // by group; may be null: then no bounds are written
  int base = 0;               // of the bounds given
};

// What they say. `group` holds the lowest score; -1: the centre outside is nearer.
struct BoundResult {
  int group = -1;
  uint64_t open_groups = 0;      // those that may hold another centre as near as the nearest
  bool outside_is_open = false;  // the centre outside may be as near as the nearest
  float upper = 0;               // upper bound of the distance to the nearest
  int upper_steps = 0;           // the same in steps, rounded up, at most 65535
  int base = 0;                  // of the bounds written
};

}  // namespace milieu::internal

// quantise_row: out (padded to row_length with 0) from (x - shift) * factor, d numbers.
//
// scaled_squared_distance: sum of ((a - b) * factor)^2 in float, relative error below
// (d/16 + 8) 2^-24.
//
// add_row: sum += weight * x. add_centered_row: sum += weight * (x - center); returns |x -
// center|^2. Both in double, d numbers, with the same bits on every instruction set.
//
// groups_not_excluded: bit g is set when bounds[g] <= thresholds[g] + slack, where the right side
// is cut to [0, 255]. groups_within: bit g is set when distances[g] <= limit. For both count <= 64,
// and the arrays are readable up to 64 entries.
//
// subtract_drifts: bounds[g] -= amounts[g], not below 0.
//
// bound_groups: finds the nearest group of a point, and turns the scores of the others into lower
// bounds of distances. Bounds of groups that were not scored are moved to the new base.
// clang-format off
MILIEU_DECLARE_ISA(
  internal::QuantisedRow quantise_row(const float* x, const float* shift, float factor, int64_t d,
                                      int64_t row_length, int16_t* out);
  float scaled_squared_distance(const float* a, const float* b, float factor, int64_t d);
  void add_row(double weight, const float* x, int64_t d, double* sum);
  double add_centered_row(double weight, const float* x, const double* center, int64_t d,
                          double* sum);
  void score_group(const internal::ScoreJob& job);
  uint64_t groups_not_excluded(const uint8_t* bounds, const uint8_t* thresholds, int slack,
                               int64_t count);
  uint64_t groups_within(const uint16_t* distances, uint16_t limit, int64_t count);
  void subtract_drifts(uint8_t* bounds, const uint8_t* amounts, int64_t count);
  internal::BoundResult bound_groups(const internal::BoundTable& table,
                                     const internal::BoundJob& job);)
// clang-format on

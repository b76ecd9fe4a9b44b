// SPDX-License-Identifier: Apache-2.0
// The hot loops of dense SIFT, compiled for each instruction set; all sets give the same bits.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

namespace milieu::internal {

inline constexpr int64_t kSiftDirections = 8;
inline constexpr int64_t kSiftBins = 16;
inline constexpr int64_t kSiftSize = kSiftBins * kSiftDirections;
// Rows of pixels are worked on in blocks of this many; buffers are long enough for whole blocks.
inline constexpr int64_t kSiftBlock = 16;

// How sums over pixels of one axis make bins: bin c is the sum over t < counts[c] of
// weights[c * max_count + t] times pixel firsts[c] + t.
struct SiftBinTable {
  const int* firsts = nullptr;
  const int* counts = nullptr;
  const float* weights = nullptr;
  int64_t max_count = 0;
  int64_t num_bins = 0;
};

// Step 5 and 6 of dense_sift.h.
struct SiftScaling {
  float floor = 0;  // in the unit of the sums
  float clip = 0;
  bool root = false;
};

}  // namespace milieu::internal

// weighted_rows: out[x] = sum over i < count of weights[i] * rows[i][x], in this order, x < width.
//
// convolve_row: out[x] = sum over i < count of weights[i] * in[x + i]; in and out hold whole
// blocks.
//
// sift_votes: votes of one row of pixels for each direction, from its smoothed values, which must
// be readable from row[-1] to one pixel behind the last block. They are twice those of
// dense_sift.h. votes holds kSiftDirections rows of `stride` numbers, a multiple of kSiftBlock.
//
// add_scaled: sum[i] += weight * values[i], count a multiple of kSiftBlock.
//
// sift_bins: from votes summed over rows to bins: num_bins x kSiftDirections. `scratch` has the
// size of votes.
//
// sift_finish: a descriptor of kSiftSize numbers from its kSiftBins bins.
// clang-format off
MILIEU_DECLARE_ISA(
  void weighted_rows(const float* const* rows, const float* weights, int64_t count, int64_t width,
                     float* out);
  void convolve_row(const float* in, const float* weights, int64_t count, int64_t width,
                    float* out);
  void sift_votes(const float* above, const float* row, const float* below, int64_t stride,
                  float* votes);
  void add_scaled(float* sum, const float* values, float weight, int64_t count);
  void sift_bins(const float* votes, int64_t stride, const internal::SiftBinTable& table,
                 float* scratch, float* bins);
  void sift_finish(const float* const* bins, const internal::SiftScaling& scaling,
                   float* descriptor);)
// clang-format on

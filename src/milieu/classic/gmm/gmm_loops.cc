// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): tiles, diagonal scores and statistics, soft-max. Scores
// and responsibilities are computed lane by lane: a sample's place in its tile does not change
// them.
#include "milieu/classic/gmm/gmm_loops.h"

#include "milieu/linalg/simd_exp.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

constexpr int kChunkVecs = 4;  // vectors of samples that are worked on at once
constexpr int64_t kChunk = kChunkVecs * kDoubleWidth;
static_assert(kGmmTileRows % kChunk == 0);

// Four rows by four features: transposed in registers, then widened.
inline void load_square(const float* points, int64_t stride, double* tile) {
  Float4 row[4];
  for (int i = 0; i < 4; ++i) row[i] = load<Float4>(points + i * stride);
  const Float4 low01 = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5);
  const Float4 low23 = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5);
  const Float4 high01 = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7);
  const Float4 high23 = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
  const Float4 line[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                          __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                          __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                          __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i)
    store(__builtin_convertvector(line[i], Double4), tile + i * kGmmTileStride);
}

// Scores of kComponents components for the chunk of samples at x.
template <int kComponents>
inline void score_chunk(const double* x, int64_t d, const double* means, const double* inverse_std,
                        const double* constants, double* scores) {
  Doubles sum[kComponents][kChunkVecs] = {};
  for (int64_t j = 0; j < d; ++j)
    for (int c = 0; c < kComponents; ++c)
      for (int v = 0; v < kChunkVecs; ++v) {
        const Doubles t =
            (load<Doubles>(x + j * kGmmTileStride + v * kDoubleWidth) - means[c * d + j]) *
            inverse_std[c * d + j];
        sum[c][v] = fused_multiply_add(t, t, sum[c][v]);
      }
  for (int c = 0; c < kComponents; ++c)
    for (int v = 0; v < kChunkVecs; ++v)
      store(constants[c] - 0.5 * sum[c][v], scores + c * kGmmTileStride + v * kDoubleWidth);
}

// Statistics of one feature for kComponents components, whose entries lie d apart.
template <int kComponents>
inline void accumulate_feature(const double* x, const double* shares, const double* means,
                               int64_t d, double* first, double* second) {
  EightSums sum[kComponents];
  EightSums squares[kComponents];
  for (int64_t s = 0; s < kGmmTileRows; s += kSumLanes)
    for (int c = 0; c < kComponents; ++c)
      for (int p = 0; p < kSumParts; ++p) {
        const Doubles difference = load<Doubles>(x + s + p * kDoubleWidth) - means[c * d];
        const Doubles shared =
            load<Doubles>(shares + c * kGmmTileStride + s + p * kDoubleWidth) * difference;
        sum[c].part[p] += shared;
        squares[c].part[p] = fused_multiply_add(shared, difference, squares[c].part[p]);
      }
  for (int c = 0; c < kComponents; ++c) {
    first[c * d] += sum[c].total();
    second[c * d] += squares[c].total();
  }
}

// One chunk of gmm_softmax; pointers are those of the chunk.
inline void softmax_chunk(double* scores, int64_t k, const double* weights, double* log_sums,
                          int* labels) {
  Doubles largest[kChunkVecs];
  Doubles label[kChunkVecs] = {};
  for (int v = 0; v < kChunkVecs; ++v) largest[v] = load<Doubles>(scores + v * kDoubleWidth);
  for (int64_t c = 1; c < k; ++c)
    for (int v = 0; v < kChunkVecs; ++v) {
      const Doubles score = load<Doubles>(scores + c * kGmmTileStride + v * kDoubleWidth);
      const auto is_larger = score > largest[v];
      label[v] = is_larger ? broadcast<Doubles>(static_cast<double>(c)) : label[v];
      largest[v] = is_larger ? score : largest[v];
    }
  Doubles sum[kChunkVecs] = {};
  for (int64_t c = 0; c < k; ++c)
    for (int v = 0; v < kChunkVecs; ++v) {
      double* score = scores + c * kGmmTileStride + v * kDoubleWidth;
      const Doubles value = fused_exp_of(load<Doubles>(score) - largest[v]);
      store(value, score);
      sum[v] += value;
    }
  Doubles factor[kChunkVecs];
  for (int v = 0; v < kChunkVecs; ++v) {
    store(largest[v] + fused_log_of(sum[v]), log_sums + v * kDoubleWidth);
    factor[v] = load<Doubles>(weights + v * kDoubleWidth) / sum[v];
    for (int l = 0; l < kDoubleWidth; ++l)
      labels[v * kDoubleWidth + l] = static_cast<int>(label[v][l]);
  }
  for (int64_t c = 0; c < k; ++c)
    for (int v = 0; v < kChunkVecs; ++v) {
      double* score = scores + c * kGmmTileStride + v * kDoubleWidth;
      store(load<Doubles>(score) * factor[v], score);
    }
}

}  // namespace

void gmm_load_tile(const float* points, int64_t stride, int64_t rows, int64_t d, double* tile) {
  int64_t s = 0;
  for (; s + 4 <= rows; s += 4) {
    const float* row = points + s * stride;
    int64_t j = 0;
    for (; j + 4 <= d; j += 4) load_square(row + j, stride, tile + j * kGmmTileStride + s);
    for (; j < d; ++j)
      for (int i = 0; i < 4; ++i) tile[j * kGmmTileStride + s + i] = row[i * stride + j];
  }
  for (; s < rows; ++s)
    for (int64_t j = 0; j < d; ++j) tile[j * kGmmTileStride + s] = points[s * stride + j];
  for (int64_t j = 0; j < d; ++j)
    for (s = rows; s < kGmmTileRows; ++s) tile[j * kGmmTileStride + s] = 0;
}

void gmm_score_diagonal(const double* tile, int64_t d, int64_t k, const double* means,
                        const double* inverse_std, const double* constants, double* scores) {
  for (int64_t s = 0; s < kGmmTileRows; s += kChunk) {
    int64_t c = 0;
    for (; c + 2 <= k; c += 2)
      score_chunk<2>(tile + s, d, means + c * d, inverse_std + c * d, constants + c,
                     scores + c * kGmmTileStride + s);
    if (c < k)
      score_chunk<1>(tile + s, d, means + c * d, inverse_std + c * d, constants + c,
                     scores + c * kGmmTileStride + s);
  }
}

void gmm_softmax(double* scores, int64_t k, const double* weights, double* log_sums, int* labels) {
  for (int64_t s = 0; s < kGmmTileRows; s += kChunk)
    softmax_chunk(scores + s, k, weights + s, log_sums + s, labels + s);
}

double gmm_sum_line(const double* line) {
  EightSums sum;
  for (int64_t s = 0; s < kGmmTileRows; s += kSumLanes)
    for (int p = 0; p < kSumParts; ++p) sum.part[p] += load<Doubles>(line + s + p * kDoubleWidth);
  return sum.total();
}

void gmm_accumulate_diagonal(const double* tile, int64_t d, int64_t k, const double* shares,
                             const double* means, double* first, double* second) {
  int64_t c = 0;
  for (; c + 2 <= k; c += 2)
    for (int64_t j = 0; j < d; ++j)
      accumulate_feature<2>(tile + j * kGmmTileStride, shares + c * kGmmTileStride,
                            means + c * d + j, d, first + c * d + j, second + c * d + j);
  if (c < k)
    for (int64_t j = 0; j < d; ++j)
      accumulate_feature<1>(tile + j * kGmmTileStride, shares + c * kGmmTileStride,
                            means + c * d + j, d, first + c * d + j, second + c * d + j);
}

}  // namespace milieu::internal::MILIEU_ISA

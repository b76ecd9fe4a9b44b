// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake): scores and statistics of full covariances, one
// component at a time.
#include "milieu/classic/gmm/gmm_loops.h"
#include "milieu/linalg/simd.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

constexpr int kRows = static_cast<int>(kGmmRowPadding);    // rows of the whitening matrix at once
constexpr int kLines = static_cast<int>(kGmmLinePadding);  // lines of each tile at once
constexpr int kChunkVecs = 2;
constexpr int64_t kChunk = kChunkVecs * kDoubleWidth;

// |whitening differences|^2 of one chunk of samples.
inline void squared_norms(const double* differences, int64_t d, const double* whitening,
                          Doubles (&norms)[kChunkVecs]) {
  for (int64_t i = 0; i < d; i += kRows) {
    Doubles sum[kRows][kChunkVecs] = {};
    const int64_t filled = i + kRows < d ? i + kRows : d;  // the triangle ends here
    for (int64_t j = 0; j < filled; ++j)
      for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < kChunkVecs; ++v)
          sum[r][v] =
              fused_multiply_add(load<Doubles>(differences + j * kGmmTileStride + v * kDoubleWidth),
                                 broadcast<Doubles>(whitening[(i + r) * d + j]), sum[r][v]);
    for (int r = 0; r < kRows; ++r)
      for (int v = 0; v < kChunkVecs; ++v)
        norms[v] = fused_multiply_add(sum[r][v], sum[r][v], norms[v]);
  }
}

}  // namespace

void gmm_subtract(const double* tile, int64_t d, const double* mean, double* differences) {
  for (int64_t j = 0; j < d; ++j)
    for (int64_t s = 0; s < kGmmTileRows; s += kDoubleWidth)
      store(load<Doubles>(tile + j * kGmmTileStride + s) - mean[j],
            differences + j * kGmmTileStride + s);
}

void gmm_score_full(const double* differences, int64_t d, const double* whitening, double constant,
                    double* score) {
  for (int64_t s = 0; s < kGmmTileRows; s += kChunk) {
    Doubles norms[kChunkVecs] = {};
    squared_norms(differences + s, d, whitening, norms);
    for (int v = 0; v < kChunkVecs; ++v)
      store(constant - 0.5 * norms[v], score + s + v * kDoubleWidth);
  }
}

void gmm_share(const double* differences, int64_t d, const double* shares, double* shared) {
  for (int64_t j = 0; j < d; ++j)
    for (int64_t s = 0; s < kGmmTileRows; s += kDoubleWidth)
      store(load<Doubles>(differences + j * kGmmTileStride + s) * load<Doubles>(shares + s),
            shared + j * kGmmTileStride + s);
}

void gmm_accumulate_full(const double* differences, const double* shared, int64_t lines,
                         double* second) {
  for (int64_t i = 0; i < lines; i += kLines)
    for (int64_t j = 0; j <= i; j += kLines) {
      EightSums sum[kLines][kLines];
      for (int64_t s = 0; s < kGmmTileRows; s += kSumLanes)
        for (int r = 0; r < kLines; ++r)
          for (int c = 0; c < kLines; ++c)
            for (int p = 0; p < kSumParts; ++p) {
              const int64_t at = s + p * kDoubleWidth;
              sum[r][c].part[p] = fused_multiply_add(
                  load<Doubles>(shared + (i + r) * kGmmTileStride + at),
                  load<Doubles>(differences + (j + c) * kGmmTileStride + at), sum[r][c].part[p]);
            }
      for (int r = 0; r < kLines; ++r)
        for (int c = 0; c < kLines; ++c) second[(i + r) * lines + j + c] += sum[r][c].total();
    }
}

}  // namespace milieu::internal::MILIEU_ISA

// SPDX-License-Identifier: Apache-2.0
// The hot loops of the Gaussian mixture, compiled for each instruction set. Double throughout. Sets
// with FMA (v3, v4) give the same bits; the baseline rounds products apart.
//
// Samples are worked on in tiles of kGmmTileRows. A tile array holds one line of kGmmTileStride
// doubles for each feature (or component); entry s of a line belongs to sample s of the tile. Lines
// are aligned to 64 bytes. A tile that is not full is padded with samples of weight 0.
#pragma once

#include <cstdint>

#include "milieu/linalg/isa.h"

namespace milieu::internal {

inline constexpr int64_t kGmmTileRows = 128;
inline constexpr int64_t kGmmTileStride = kGmmTileRows + 8;  // lines fall into different cache sets

// Rows of a whitening matrix and lines of a full tile come in multiples of these.
inline constexpr int64_t kGmmRowPadding = 4;
inline constexpr int64_t kGmmLinePadding = 2;

}  // namespace milieu::internal

// In all of them d is the number of features and k of components; k x d arrays are row-major.
//
// gmm_load_tile: `tile` (d lines) from `rows` rows of floats at points, points + stride, ...; the
// places after `rows` become 0.
//
// gmm_score_diagonal: scores (k lines) = constants[c] - 1/2 sum_j (inverse_std_cj (x_j -
// mean_cj))^2.
//
// gmm_subtract: differences (d lines) = x - mean, for one component.
//
// gmm_score_full: score (one line) = constant - 1/2 |whitening differences|^2; whitening is d x d,
// lower triangular, followed by rows of 0 up to a multiple of kGmmRowPadding.
//
// gmm_softmax: scores (k lines) become weights[s] exp(score) / sum_c exp(score); log_sums[s] =
// log(sum_c exp(score)); labels[s] is the first component with the largest score. Scores may be
// -inf, but not all of a sample.
//
// gmm_sum_line: the sum of one line.
//
// gmm_accumulate_diagonal: first (k x d) += sum_s shares(c, s) (x_j - mean_cj), second (k x d) the
// same of the squares.
//
// gmm_share: shared (d lines) = shares[s] differences, for one component.
//
// gmm_accumulate_full: second(i, j) += sum_s shared_i differences_j for j <= i; both tiles have
// `lines` lines (a multiple of kGmmLinePadding), second is lines x lines. Entries just above the
// diagonal change too.
MILIEU_DECLARE_ISA(
    void gmm_load_tile(const float* points, int64_t stride, int64_t rows, int64_t d, double* tile);
    void gmm_score_diagonal(const double* tile, int64_t d, int64_t k, const double* means,
                            const double* inverse_std, const double* constants, double* scores);
    void gmm_subtract(const double* tile, int64_t d, const double* mean, double* differences);
    void gmm_score_full(const double* differences, int64_t d, const double* whitening,
                        double constant, double* score);
    void gmm_softmax(double* scores, int64_t k, const double* weights, double* log_sums,
                     int* labels);
    double gmm_sum_line(const double* line);
    void gmm_accumulate_diagonal(const double* tile, int64_t d, int64_t k, const double* shares,
                                 const double* means, double* first, double* second);
    void gmm_share(const double* differences, int64_t d, const double* shares, double* shared);
    void gmm_accumulate_full(const double* differences, const double* shared, int64_t lines,
                             double* second);)

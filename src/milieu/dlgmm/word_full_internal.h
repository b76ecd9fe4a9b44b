// SPDX-License-Identifier: Apache-2.0
// Words with full covariances, for word_steps.cc.
#pragma once

#include "milieu/dlgmm/dlgmm_steps.h"

namespace milieu::internal {

inline constexpr double kLightWord = 1e-3;  // words of less weight keep their parameters

// Constant, inverse root and float factors of word v.
void fill_full_scores(const DlgmmModel& model, int64_t v, bool is_free, WordScorer& s);
// (o - omega)^T Lambda^-1 (o - omega).
double full_distance(const WordScorer& s, const float* patch, int64_t word);
// second += share (o - omega)(o - omega)^T.
void add_products(double share, const float* patch, const double* word, int64_t dim,
                  double* second);
double full_word_term(const WordStats& stats, DoubleView old_words, const DlgmmModel& model);
// [Xie15, Eq. 10] with any matrix, of words [first, last) together; `floor` of the eigenvalues.
void update_full_variances(const WordStats& stats, DoubleView old_words, int64_t first,
                           int64_t last, double floor, DlgmmModel& model);
// Whether every covariance is positive definite.
bool are_full_words_valid(const DlgmmModel& model);
// L of a row of the covariances, row-major.
Matrix<double> word_root(const DlgmmModel& model, int64_t row);

}  // namespace milieu::internal

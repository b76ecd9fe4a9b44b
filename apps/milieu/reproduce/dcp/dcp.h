// SPDX-License-Identifier: Apache-2.0
// The experiments of [Lampert08], one file each, and what they share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/linalg/matrix.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

void reproduce_dcp_toy(ReproduceRun& run);
void reproduce_dcp_kmeans(ReproduceRun& run);
void reproduce_dcp_digits(ReproduceRun& run);
void reproduce_dcp_pairs(ReproduceRun& run);
void reproduce_dcp_two_factor(ReproduceRun& run);
void reproduce_dcp_held_out(ReproduceRun& run);
void reproduce_dcp_slant(ReproduceRun& run);
void reproduce_dcp_caltech(ReproduceRun& run);
void reproduce_dcp_readings(ReproduceRun& run);

// Handwritten digits, pixels in [0, 1]: samples as rows and their digit.
struct Digits {
  Matrix<float> points;
  std::vector<int> labels;
};
Digits load_usps(const ReproduceRun& run);

// Two digits mixed, as in [Lampert08, section 5.2]: all of `first`, and of `second` all or a tenth,
// drawn at random.
struct Mixture {
  Matrix<float> points;
  std::vector<int> truth;  // 0 for the first digit, 1 for the second
};
Mixture mix_digits(const Digits& digits, int first, int second, bool is_unbalanced, Random& random);

// The rows of one digit.
std::vector<int64_t> rows_of_digit(const Digits& digits, int digit);
Matrix<float> gather_rows(FloatView points, const std::vector<int64_t>& rows);

// Two digits and the errors of the methods that separate them, one per run.
struct DigitPair {
  int first, second;
  std::vector<double> kmeans, spectral, average, best;  // average, best: over dcp's contexts
};
// A PNG: rows are the mixtures, columns k-means, average and best.
std::string draw_pairs(const std::vector<DigitPair>& balanced,
                       const std::vector<DigitPair>& unbalanced);

// Error as the paper counts it: mean of the classes' errors under the best matching of two parts.
double balanced_error(const std::vector<int>& labels, const std::vector<int>& truth);

}  // namespace milieu::cli

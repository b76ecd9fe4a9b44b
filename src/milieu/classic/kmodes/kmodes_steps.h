// SPDX-License-Identifier: Apache-2.0
// The steps of k-modes on packed bits, one function each: pack, seed, assign, vote, seed again.
// Context-aware clustering starts its phrases with them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "milieu/base/monitor.h"
#include "milieu/base/random.h"
#include "milieu/linalg/matrix.h"

namespace milieu::internal {

// Binary vectors as rows of 64-bit words; bit j of a row is bit j % 64 of word j / 64, and the bits
// after the last are 0.
class BitMatrix {
 public:
  BitMatrix() = default;
  BitMatrix(int64_t rows, int64_t cols)
      : rows_(rows), cols_(cols), words_((cols + 63) / 64), data_(rows * words_, 0) {}

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  int64_t words() const { return words_; }  // of one row
  const uint64_t* row(int64_t i) const { return data_.data() + i * words_; }
  uint64_t* row(int64_t i) { return data_.data() + i * words_; }
  bool bit(int64_t i, int64_t j) const { return (row(i)[j / 64] >> (j % 64)) & 1; }
  void set_bit(int64_t i, int64_t j, bool value) {
    const uint64_t mask = uint64_t{1} << (j % 64);
    row(i)[j / 64] = value ? row(i)[j / 64] | mask : row(i)[j / 64] & ~mask;
  }
  void copy_row(int64_t i, const BitMatrix& other, int64_t other_row);

  friend bool operator==(const BitMatrix&, const BitMatrix&) = default;

 private:
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  int64_t words_ = 0;
  std::vector<uint64_t> data_;
};

// Packs entries of 0 and 1; another value throws InvalidArgument "points(3, 5) is 0.5, must be 0 or
// 1" for the first such entry in row order. `name` is how the message calls the matrix.
BitMatrix pack_bits(FloatView points, std::string_view name, int num_threads);
Matrix<float> unpack_bits(const BitMatrix& bits);

// Packed samples with weights (empty: all 1).
struct KModesProblem {
  BitMatrix points;
  std::span<const double> weights;
  int num_threads = 0;

  double weight(int64_t i) const { return weights.empty() ? 1.0 : weights[i]; }
};

// What one assignment gives.
struct ModeAssignment {
  std::vector<int> labels;     // n: nearest mode, ties to the lowest index
  std::vector<int> distances;  // n: Hamming distance to it
  double objective = 0;        // weighted sum of the distances
};

// The nearest mode of every sample; nothing when the monitor stops it.
std::optional<ModeAssignment> assign_modes(const KModesProblem& problem, const BitMatrix& modes,
                                           Monitor& monitor);

// Majority vote: bit m of mode k becomes 1 iff 2 S_mk >= n_k, where S_mk is the weight of the
// members of cluster k that have bit m and n_k the weight of all of them. A tie gives 1. A cluster
// without weight keeps its mode. Returns n_k.
std::vector<double> update_modes(const KModesProblem& problem, std::span<const int> labels,
                                 BitMatrix& modes);

// Each cluster without weight takes as mode the sample of positive weight that lies farthest from
// its own mode under `assignment`: the lowest index first, each sample at most once, none at
// distance 0. The next assignment can only gain by it. Returns how many modes were replaced.
int reseed_empty_modes(const KModesProblem& problem, const ModeAssignment& assignment,
                       std::span<const double> cluster_weights, BitMatrix& modes);

// k-modes++: the first mode is a sample drawn by weight, each further one is drawn by weight times
// distance to the nearest mode so far. The Hamming distance of binary vectors is their squared
// Euclidean distance, so this is k-means++ [Arthur07]. Where no sample has a distance left, or the
// monitor stops it, samples are drawn by weight alone.
BitMatrix seed_plus_plus(const KModesProblem& problem, int num_clusters, Random random,
                         const Monitor& monitor);

// Samples of positive weight, drawn without replacement.
BitMatrix seed_random(const KModesProblem& problem, int num_clusters, Random random);

}  // namespace milieu::internal

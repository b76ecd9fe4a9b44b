// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/kmodes/kmodes_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>

#include "milieu/base/assert.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/classic/kmodes/kmodes_loops.h"

namespace milieu::internal {

namespace {

constexpr int64_t kBlockRows = 1024;

// Packs one row and returns true, or returns false at an entry that is neither 0 nor 1.
bool pack_row(std::span<const float> values, uint64_t* words) {
  bool is_binary = true;
  for (size_t begin = 0; begin < values.size(); begin += 64) {
    const size_t end = std::min(values.size(), begin + 64);
    uint64_t word = 0;
    for (size_t j = begin; j < end; ++j) {
      is_binary &= values[j] == 0.0f || values[j] == 1.0f;
      word |= static_cast<uint64_t>(values[j] == 1.0f) << (j - begin);
    }
    words[begin / 64] = word;
  }
  return is_binary;
}

[[noreturn]] void refuse_row(std::span<const float> values, int64_t row, std::string_view name) {
  const auto bad =
      std::ranges::find_if(values, [](float value) { return value != 0.0f && value != 1.0f; });
  throw InvalidArgument(
      fmt::format("{}({}, {}) is {}, must be 0 or 1 (counted from 0): k-modes needs binary "
                  "vectors, so threshold the data first",
                  name, row, bad - values.begin(), *bad));
}

// The weight of each cluster and, for each of its bits, of the members that have it: a plain sum.
struct VoteStats {
  std::vector<double> cluster_weights;  // k
  Matrix<double> bit_weights;           // k x d

  void add(const uint64_t* words, int64_t num_words, int label, double weight) {
    cluster_weights[label] += weight;
    double* own = bit_weights.row(label);
    for (int64_t w = 0; w < num_words; ++w)
      for (uint64_t bits = words[w]; bits != 0; bits &= bits - 1)
        own[w * 64 + std::countr_zero(bits)] += weight;
  }
  void merge(const VoteStats& other) {
    for (size_t c = 0; c < cluster_weights.size(); ++c)
      cluster_weights[c] += other.cluster_weights[c];
    for (int64_t i = 0; i < bit_weights.size(); ++i)
      bit_weights.data()[i] += other.bit_weights.data()[i];
  }
};

int64_t draw_by_weight(const KModesProblem& problem, Random& random) {
  return problem.weights.empty() ? random.uniform_index(problem.points.rows())
                                 : random.weighted_index(problem.weights);
}

// distances[i] <- min(distances[i], distance of sample i to row `mode` of modes).
void lower_distances(const KModesProblem& problem, const BitMatrix& modes, int64_t mode,
                     std::span<int> distances) {
  const auto nearest = MILIEU_SELECT_ISA(nearest_modes);
  parallel_for(problem.points.rows(), kBlockRows, problem.num_threads, [&](const Block& block) {
    int unused[kBlockRows];
    int distance[kBlockRows];
    nearest(problem.points.row(block.begin), block.size(), modes.row(mode), 1, modes.words(),
            unused, distance);
    for (int64_t i = 0; i < block.size(); ++i)
      distances[block.begin + i] = std::min(distances[block.begin + i], distance[i]);
  });
}

}  // namespace

void BitMatrix::copy_row(int64_t i, const BitMatrix& other, int64_t other_row) {
  MILIEU_ASSERT(words_ == other.words_);
  std::copy_n(other.row(other_row), words_, row(i));
}

BitMatrix pack_bits(FloatView points, std::string_view name, int num_threads) {
  BitMatrix bits(points.rows(), points.cols());
  std::vector<int64_t> bad_rows(num_blocks(points.rows(), kBlockRows), -1);
  parallel_for(points.rows(), kBlockRows, num_threads, [&](const Block& block) {
    for (int64_t i = block.begin; i < block.end && bad_rows[block.index] < 0; ++i)
      if (!pack_row(points.row_span(i), bits.row(i))) bad_rows[block.index] = i;
  });
  for (const int64_t row : bad_rows)
    if (row >= 0) refuse_row(points.row_span(row), row, name);
  return bits;
}

Matrix<float> unpack_bits(const BitMatrix& bits) {
  Matrix<float> values(bits.rows(), bits.cols());
  for (int64_t i = 0; i < bits.rows(); ++i)
    for (int64_t j = 0; j < bits.cols(); ++j) values(i, j) = bits.bit(i, j) ? 1.0f : 0.0f;
  return values;
}

std::optional<ModeAssignment> assign_modes(const KModesProblem& problem, const BitMatrix& modes,
                                           Monitor& monitor) {
  const int64_t n = problem.points.rows();
  ModeAssignment result;
  result.labels.resize(n);
  result.distances.resize(n);
  std::atomic<bool> is_stopped = false;
  const auto nearest = MILIEU_SELECT_ISA(nearest_modes);
  const auto accumulate = [&](const Block& block, double& sum) {
    if (is_stopped || monitor.should_stop()) {
      is_stopped = true;
      return;
    }
    nearest(problem.points.row(block.begin), block.size(), modes.row(0), modes.rows(),
            modes.words(), &result.labels[block.begin], &result.distances[block.begin]);
    for (int64_t i = block.begin; i < block.end; ++i)
      sum += problem.weight(i) * result.distances[i];
  };
  result.objective = parallel_reduce(n, kBlockRows, problem.num_threads, 0.0, accumulate,
                                     [](double& total, double part) { total += part; });
  if (is_stopped) return std::nullopt;
  return result;
}

std::vector<double> update_modes(const KModesProblem& problem, std::span<const int> labels,
                                 BitMatrix& modes) {
  const VoteStats zero{std::vector<double>(modes.rows(), 0),
                       Matrix<double>(modes.rows(), modes.cols())};
  const VoteStats votes = parallel_reduce(
      problem.points.rows(), kBlockRows, problem.num_threads, zero,
      [&](const Block& block, VoteStats& part) {
        for (int64_t i = block.begin; i < block.end; ++i)
          part.add(problem.points.row(i), problem.points.words(), labels[i], problem.weight(i));
      },
      [](VoteStats& total, const VoteStats& part) { total.merge(part); });
  for (int64_t c = 0; c < modes.rows(); ++c) {
    if (votes.cluster_weights[c] <= 0) continue;
    for (int64_t j = 0; j < modes.cols(); ++j)
      modes.set_bit(c, j, 2 * votes.bit_weights(c, j) >= votes.cluster_weights[c]);
  }
  return votes.cluster_weights;
}

int reseed_empty_modes(const KModesProblem& problem, const ModeAssignment& assignment,
                       std::span<const double> cluster_weights, BitMatrix& modes) {
  std::vector<int64_t> empty;
  for (size_t c = 0; c < cluster_weights.size(); ++c)
    if (cluster_weights[c] <= 0) empty.push_back(static_cast<int64_t>(c));
  if (empty.empty()) return 0;
  std::vector<int64_t> farthest;
  for (int64_t i = 0; i < problem.points.rows(); ++i)
    if (problem.weight(i) > 0 && assignment.distances[i] > 0) farthest.push_back(i);
  const size_t count = std::min(empty.size(), farthest.size());
  std::partial_sort(farthest.begin(), farthest.begin() + static_cast<int64_t>(count),
                    farthest.end(), [&](int64_t a, int64_t b) {
                      const int left = assignment.distances[a];
                      const int right = assignment.distances[b];
                      return left != right ? left > right : a < b;
                    });
  for (size_t i = 0; i < count; ++i) modes.copy_row(empty[i], problem.points, farthest[i]);
  return static_cast<int>(count);
}

BitMatrix seed_plus_plus(const KModesProblem& problem, int num_clusters, Random random,
                         const Monitor& monitor) {
  const int64_t n = problem.points.rows();
  BitMatrix modes(num_clusters, problem.points.cols());
  std::vector<int> distances(n, std::numeric_limits<int>::max());
  std::vector<double> chances(n);
  for (int64_t c = 0; c < num_clusters; ++c) {
    double sum = 0;
    if (c > 0 && !monitor.should_stop()) {
      lower_distances(problem, modes, c - 1, distances);
      for (int64_t i = 0; i < n; ++i) sum += chances[i] = problem.weight(i) * distances[i];
    }
    const int64_t chosen =
        sum > 0 ? random.weighted_index(chances) : draw_by_weight(problem, random);
    modes.copy_row(c, problem.points, chosen);
  }
  return modes;
}

BitMatrix seed_random(const KModesProblem& problem, int num_clusters, Random random) {
  std::vector<int64_t> candidates;
  for (int64_t i = 0; i < problem.points.rows(); ++i)
    if (problem.weight(i) > 0) candidates.push_back(i);
  const std::vector<int64_t> chosen =
      random.sample_without_replacement(static_cast<int64_t>(candidates.size()), num_clusters);
  BitMatrix modes(num_clusters, problem.points.cols());
  for (int64_t c = 0; c < num_clusters; ++c)
    modes.copy_row(c, problem.points, candidates[chosen[c]]);
  return modes;
}

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// The search for Ward partners. Products of all pairs come from the float product; a pair that may
// be the best within its rounding error is measured again in double.
//
// Symbols: p, q the rounded means of two clusters, r = |p| + |q|, s the product of p and q. As in
// neighbors/brute_force.cc, the squared distance of the means is at least |p|^2 + |q|^2 - 2 s - e,
// e = (d + 8) 2^-24 r^2 + d 10^-37. The cost is that distance times 2 / (1 / |A| + 1 / |B|).
#include <algorithm>
#include <atomic>
#include <cmath>

#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/classic/agglomerative/ward_internal.h"
#include "milieu/linalg/gemm.h"

namespace milieu::internal {
namespace {

constexpr int64_t kQueriesPerBlock = 128;
constexpr int64_t kRowsPerBlock = 1024;
constexpr int64_t kQueriesPerReport = 1024;  // or a 64th of them, if that is more
constexpr int64_t kChunk = 16;               // products examined together

double squared_distance(const double* a, const double* b, int64_t d) {
  double sums[4] = {0, 0, 0, 0};
  int64_t t = 0;
  for (; t + 4 <= d; t += 4)
    for (int l = 0; l < 4; ++l) sums[l] += (a[t + l] - b[t + l]) * (a[t + l] - b[t + l]);
  for (; t < d; ++t) sums[0] += (a[t] - b[t]) * (a[t] - b[t]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// A fixed order among pairs of equal cost; the finalizer of SplitMix64, which is one-to-one.
uint64_t tie_of(int a, int b) {
  const auto [low, high] = std::minmax(a, b);
  uint64_t z = (static_cast<uint64_t>(low) << 32) | static_cast<uint32_t>(high);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::vector<double> mean_of(FloatView points, double unit) {
  std::vector<double> mean(points.cols());
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t t = 0; t < points.cols(); ++t) mean[t] += points(i, t) / unit;
  for (double& value : mean) value /= static_cast<double>(points.rows());
  return mean;
}

}  // namespace

WardClusters::WardClusters(FloatView points, const std::vector<int>& first_rows,
                           const std::vector<int>& group_from_row, double unit)
    : means_(static_cast<int64_t>(first_rows.size()), points.cols()),
      rounded_(means_.rows(), points.cols()),
      norms_(first_rows.size()),
      shares_(first_rows.size()),
      sizes_(first_rows.size()),
      names_(first_rows),
      versions_(first_rows.size()),
      num_left_(means_.rows()) {
  const std::vector<double> mean = mean_of(points, unit);
  for (const int group : group_from_row) ++sizes_[group];
  for (int64_t i = 0; i < means_.rows(); ++i) {
    for (int64_t t = 0; t < points.cols(); ++t)
      means_(i, t) = points(first_rows[i], t) / unit - mean[t];
    set_float_row(i);
  }
}

void WardClusters::set_float_row(int64_t row) {
  double sum = 0;
  for (int64_t t = 0; t < means_.cols(); ++t) {
    const auto value = static_cast<float>(means_(row, t));
    rounded_(row, t) = value;
    sum += static_cast<double>(value) * value;
  }
  norms_[row] = static_cast<float>(sum);
  shares_[row] = 1 / static_cast<float>(sizes_[row]);
  largest_norm_ = std::max(largest_norm_, norms_[row]);
}

WardPair WardClusters::pair(int64_t row, int64_t other) const {
  const auto a = static_cast<double>(sizes_[row]);
  const auto b = static_cast<double>(sizes_[other]);
  const double squared = squared_distance(means_.row(row), means_.row(other), means_.cols());
  return {2 * (a * b) / (a + b) * squared, tie_of(names_[row], names_[other]),
          static_cast<int>(other), versions_[other]};
}

void WardClusters::join(int64_t row, int64_t other) {
  const auto a = static_cast<double>(sizes_[row]);
  const auto b = static_cast<double>(sizes_[other]);
  for (int64_t t = 0; t < means_.cols(); ++t)
    means_(row, t) = (a * means_(row, t) + b * means_(other, t)) / (a + b);
  sizes_[row] += sizes_[other];
  set_float_row(row);
  sizes_[other] = 0;
  ++versions_[row], ++versions_[other], --num_left_;
  norms_[other] = std::numeric_limits<float>::infinity();  // nobody's partner
}

std::vector<int> WardClusters::compact() {
  std::vector<int> new_rows(names_.size(), -1);
  int64_t next = 0;
  for (int64_t i = 0; i < num_rows(); ++i) {
    if (sizes_[i] == 0) continue;
    new_rows[i] = static_cast<int>(next);
    if (next != i) {
      std::copy_n(means_.row(i), means_.cols(), means_.row(next));
      std::copy_n(rounded_.row(i), means_.cols(), rounded_.row(next));
      norms_[next] = norms_[i], shares_[next] = shares_[i];
      sizes_[next] = sizes_[i], names_[next] = names_[i], versions_[next] = versions_[i];
    }
    ++next;
  }
  norms_.resize(next), shares_.resize(next), sizes_.resize(next);
  names_.resize(next), versions_.resize(next);
  return new_rows;
}

// Measures the rows [begin, begin + products.size()) that may be the first partner of `row`;
// products are -2 s.
void WardClusters::offer(int64_t row, int64_t begin, std::span<const float> products,
                         WardPair& best) const {
  const double reach =
      std::sqrt(static_cast<double>(norms_[row])) + std::sqrt(static_cast<double>(largest_norm_));
  const auto d = static_cast<double>(means_.cols());
  // Twice the error above: the comparison below is in float, too.
  const double slack = 2 * ((d + 16) * 0x1p-24 * reach * reach + d * 1e-37);
  const auto shift = static_cast<float>(norms_[row] - slack);
  const float* norms = norms_.data() + begin;
  const float* shares = shares_.data() + begin;
  const auto count = static_cast<int64_t>(products.size());
  for (int64_t first = 0; first < count; first += kChunk) {
    const int64_t last = std::min(count, first + kChunk);
    const auto half = static_cast<float>(best.cost * (0.5 + 1e-6));
    const auto is_near = [&](int64_t j) {
      return !(norms[j] + products[j] + shift > half * (shares_[row] + shares[j]));
    };
    int num_near = 0;
    for (int64_t j = first; j < last; ++j) num_near += is_near(j);
    if (num_near == 0) continue;
    for (int64_t j = first; j < last; ++j)
      if (is_near(j) && begin + j != row && sizes_[begin + j] > 0)
        best = std::min(best, pair(row, begin + j));
  }
}

void WardClusters::search_block(std::span<const int> queries, const Monitor& monitor,
                                std::span<WardPair> found) const {
  const auto num_queries = static_cast<int64_t>(queries.size());
  Matrix<float> rows(num_queries, means_.cols());
  Matrix<float> products(num_queries, std::min(num_rows(), kRowsPerBlock));
  for (int64_t q = 0; q < num_queries; ++q)
    std::copy_n(rounded_.row(queries[q]), means_.cols(), rows.row(q));
  for (int64_t begin = 0; begin < num_rows() && !monitor.should_stop(); begin += kRowsPerBlock) {
    const FloatView block =
        FloatView(rounded_).rows_between(begin, std::min(num_rows(), begin + kRowsPerBlock));
    MatrixView<float> out(products.data(), num_queries, block.rows(), products.cols());
    gemm_nt(-2, rows, block, 0, out);
    for (int64_t q = 0; q < num_queries; ++q) offer(queries[q], begin, out.row_span(q), found[q]);
  }
}

bool WardClusters::find_first_partners(const std::vector<int>& queries, int num_threads,
                                       Monitor& monitor, std::vector<WardPair>& found) const {
  const auto num_queries = static_cast<int64_t>(queries.size());
  found.assign(queries.size(), {});
  const int64_t step = std::max(kQueriesPerReport, num_queries / 64);
  for (int64_t begin = 0; begin < num_queries; begin += step) {
    if (num_queries > step) monitor.on_progress("distances", begin, num_queries);
    const int64_t size = std::min(step, num_queries - begin);
    parallel_for(size, kQueriesPerBlock, num_threads, [&](const Block& block) {
      search_block(std::span(queries).subspan(begin + block.begin, block.size()), monitor,
                   std::span(found).subspan(begin + block.begin, block.size()));
    });
    if (monitor.should_stop()) return false;
  }
  return true;
}

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// The search in many dimensions: all pairs, block by block, through the float product; a pair that
// might be a neighbour within the product's rounding error is measured again in double.
//
// Symbols: m the mean of the points; p' = float(p - m), q' = float(q - m); u = 2^-24;
// r = |p'| + |q'|. The product gives s ~ p'.q' with |s - p'.q'| <= d u |p'||q'| to first order
// (any order of summation), |p'||q'| <= r^2 / 4; rounding p and q to p' and q' changes the distance
// by at most u r and its square by about 2 u r^2; adding |p'|^2 and |q'|^2 in float costs 2 u r^2
// more. Together: the squared distance is at least |p'|^2 + |q'|^2 - 2 s - kSlack(d) r^2 with
// kSlack = (d + 8) u, which is twice what the terms need. Far from overflow and underflow only:
// see pair_slack.
#include <cmath>
#include <limits>

#include "milieu/linalg/distance.h"
#include "milieu/linalg/gemm.h"
#include "milieu/neighbors/engine_internal.h"

namespace milieu::internal {
namespace {

constexpr int64_t kQueriesPerBlock = 128;
constexpr int64_t kPointsPerBlock = 1024;
constexpr int64_t kChunk = 16;  // products examined together

// Upper bound of the error of a squared distance from the product; `reach` is r above.
double pair_slack(int64_t d, double reach) {
  constexpr double kUnit = 0x1p-24;
  constexpr double kProductMayOverflow = 1e37;
  if (!(reach * reach < kProductMayOverflow)) return std::numeric_limits<double>::infinity();
  const double underflow = static_cast<double>(d) * 1e-37;
  return (static_cast<double>(d) + 8) * kUnit * reach * reach + underflow;
}

// `value` as a float that is not smaller.
float round_up(double value) {
  const float rounded = static_cast<float>(value);
  return rounded < value ? std::nextafter(rounded, std::numeric_limits<float>::infinity())
                         : rounded;
}

class BruteForce final : public SearchEngine {
 public:
  explicit BruteForce(FloatView points)
      : points_(points),
        mean_(points.cols()),
        squared_norms_(points.rows()),
        block_norms_((points.rows() + kPointsPerBlock - 1) / kPointsPerBlock) {
    set_mean();
    Matrix<float> centered(kPointsPerBlock, points.cols());
    for (int64_t begin = 0; begin < points.rows(); begin += kPointsPerBlock) {
      const FloatView block = center(rows_from(begin), centered);
      float largest = 0;
      for (int64_t j = 0; j < block.rows(); ++j) {
        squared_norms_[begin + j] = squared_norm(block.row_span(j));
        largest = std::max(largest, squared_norms_[begin + j]);
      }
      block_norms_[begin / kPointsPerBlock] = std::sqrt(static_cast<double>(largest));
    }
  }

  int64_t block_size() const override { return kQueriesPerBlock; }

  bool search(FloatView queries, std::span<Candidates> candidates,
              const Monitor& monitor) const override {
    Matrix<float> centered_points(kPointsPerBlock, points_.cols());
    Matrix<float> centered_queries(queries.rows(), queries.cols());
    Matrix<float> products(queries.rows(), kPointsPerBlock);
    center(queries, centered_queries);
    const std::vector<float> query_norms = squared_row_norms(centered_queries);
    for (int64_t begin = 0; begin < points_.rows(); begin += kPointsPerBlock) {
      if (monitor.should_stop()) return false;
      const FloatView block = center(rows_from(begin), centered_points);
      MatrixView<float> out(products.data(), queries.rows(), block.rows(), kPointsPerBlock);
      gemm_nt(-2, centered_queries, block, 0, out);
      for (int64_t i = 0; i < queries.rows(); ++i)
        offer_row(queries.row(i), query_norms[i], out.row_span(i), begin, candidates[i]);
    }
    return true;
  }

 private:
  FloatView rows_from(int64_t begin) const {
    return points_.rows_between(begin, std::min(points_.rows(), begin + kPointsPerBlock));
  }

  void set_mean() {
    std::vector<double> sum(points_.cols());
    for (int64_t i = 0; i < points_.rows(); ++i)
      for (int64_t j = 0; j < points_.cols(); ++j) sum[j] += points_(i, j);
    for (int64_t j = 0; j < points_.cols(); ++j)
      mean_[j] = static_cast<float>(sum[j] / static_cast<double>(points_.rows()));
  }

  // rows - mean, written to the first rows of `out`.
  FloatView center(FloatView rows, MatrixView<float> out) const {
    for (int64_t i = 0; i < rows.rows(); ++i)
      for (int64_t j = 0; j < rows.cols(); ++j) out.row(i)[j] = rows.row(i)[j] - mean_[j];
    return out.rows_between(0, rows.rows());
  }

  static float squared_norm(std::span<const float> row) {
    double sum = 0;
    for (const float value : row) sum += static_cast<double>(value) * value;
    return static_cast<float>(sum);
  }

  // Measures the points [begin, begin + products.size()) that may be near enough; products are
  // -2 s of one query.
  void offer_row(const float* query, float query_norm, std::span<const float> products,
                 int64_t begin, Candidates& candidates) const {
    const double slack = pair_slack(points_.cols(), std::sqrt(static_cast<double>(query_norm)) +
                                                        block_norms_[begin / kPointsPerBlock]);
    const float* norms = squared_norms_.data() + begin;
    const auto count = static_cast<int64_t>(products.size());
    for (int64_t first = 0; first < count; first += kChunk) {
      const int64_t last = std::min(count, first + kChunk);
      const float limit = round_up(candidates.bound() - query_norm + slack);
      int num_near = 0;
      for (int64_t j = first; j < last; ++j) num_near += !(norms[j] + products[j] > limit);
      if (num_near == 0) continue;
      for (int64_t j = first; j < last; ++j)
        if (!(norms[j] + products[j] > limit)) measure(query, begin + j, candidates);
    }
  }

  void measure(const float* query, int64_t i, Candidates& candidates) const {
    candidates.add(squared_distance(query, points_.row(i), points_.cols()), static_cast<int>(i));
  }

  FloatView points_;
  std::vector<float> mean_;
  std::vector<float> squared_norms_;  // n, of the centred points
  std::vector<double> block_norms_;   // largest norm of each block of centred points
};

}  // namespace

std::unique_ptr<SearchEngine> make_brute_force(FloatView points) {
  return std::make_unique<BruteForce>(points);
}

}  // namespace milieu::internal

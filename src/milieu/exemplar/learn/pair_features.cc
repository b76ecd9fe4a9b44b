// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/learn/pair_features.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/parallel.h"
#include "milieu/exemplar/learn/learn_loops.h"
#include "milieu/linalg/gemm.h"

namespace milieu {

namespace {

constexpr int64_t kRowsPerTile = 64;

// Sum of squared differences over all ordered pairs: 2 n times the squares about the mean.
class CoordinateFeatures : public PairFeatures {
 public:
  explicit CoordinateFeatures(FloatView points)
      : points_(points),
        centred_(points.rows(), points.cols()),
        left_(points.rows(), points.cols()),
        right_(points.rows(), points.cols()) {
    const int64_t n = points.rows(), d = points.cols();
    std::vector<double> mean(d, 0.0);
    for (int64_t p = 0; p < n; ++p)
      for (int64_t t = 0; t < d; ++t) mean[t] += points(p, t);
    for (int64_t p = 0; p < n; ++p)
      for (int64_t t = 0; t < d; ++t)
        centred_(p, t) = static_cast<float>(points(p, t) - mean[t] / static_cast<double>(n));
  }

  int64_t num_samples() const override { return points_.rows(); }
  int64_t num_features() const override { return points_.cols(); }

  // d_pq = norm_p + norm_q - 2 x_p . (w x_q): columns of weight 0 are left out.
  void set_weights(std::span<const double> w) override {
    w_.assign(w.begin(), w.end());
    std::vector<int64_t> used;
    for (int64_t t = 0; t < points_.cols(); ++t)
      if (w[t] != 0) used.push_back(t);
    if (used != used_) choose_columns(std::move(used));
    const int64_t n = centred_.rows(), m = std::ssize(used_);
    std::vector<float> used_w;
    for (const int64_t t : used_) used_w.push_back(static_cast<float>(w[t]));
    norms_.assign(n, 0.0f);
    const auto weigh = MILIEU_SELECT_ISA(weigh_row);
    for (int64_t p = 0; p < n && m > 0; ++p)
      norms_[p] = static_cast<float>(weigh(left_.row(p), used_w.data(), m, right_.row(p)));
    const bool is_distance = std::all_of(w.begin(), w.end(), [](double x) { return x >= 0; });
    least_ = is_distance ? 0.0f : -std::numeric_limits<float>::max();
  }

  bool is_symmetric() const override { return true; }
  void rows(int64_t begin, MatrixView<float> out) const override { columns_from(0, begin, out); }
  void upper_rows(int64_t begin, MatrixView<float> out) const override {
    columns_from(begin, begin, out);
  }

  void rows(int64_t begin, MatrixView<double> out) const override {
    for (int64_t i = 0; i < out.rows(); ++i)
      for (int64_t q = 0; q < out.cols(); ++q) {
        double sum = 0;
        for (int64_t t = 0; t < points_.cols(); ++t) {
          const double difference = static_cast<double>(points_(begin + i, t)) - points_(q, t);
          sum += w_[t] * difference * difference;
        }
        out(i, q) = sum;
      }
  }

  void add_pair(int64_t p, int64_t q, double factor, std::span<double> sum) const override {
    MILIEU_SELECT_ISA(add_squared_differences)
    (points_.row(p), points_.row(q), factor, points_.cols(), sum.data());
  }

  std::vector<double> sums(int) const override {
    const double n = static_cast<double>(centred_.rows());
    std::vector<double> sum(points_.cols(), 0.0), first(points_.cols(), 0.0);
    for (int64_t p = 0; p < points_.rows(); ++p)
      for (int64_t t = 0; t < points_.cols(); ++t) {
        const double x = centred_(p, t);
        sum[t] += x * x;
        first[t] += x;
      }
    // What rounding left of the mean is subtracted; equal values give exactly 0.
    for (int64_t t = 0; t < points_.cols(); ++t) {
      const bool is_constant = all_equal(t);
      sum[t] = is_constant ? 0.0 : std::max(0.0, 2 * n * sum[t] - 2 * first[t] * first[t]);
    }
    return sum;
  }

 private:
  void choose_columns(std::vector<int64_t> used) {
    used_ = std::move(used);
    for (int64_t p = 0; p < centred_.rows(); ++p)
      for (size_t i = 0; i < used_.size(); ++i) left_.row(p)[i] = centred_(p, used_[i]);
  }

  FloatView used_columns(const Matrix<float>& all, int64_t begin, int64_t end) const {
    return {all.row(begin), end - begin, std::ssize(used_), all.cols()};
  }

  // Columns `first` and on of rows `begin` and on.
  void columns_from(int64_t first, int64_t begin, MatrixView<float> out) const {
    const int64_t count = out.cols() - first;
    const MatrixView<float> part(out.data() + first, out.rows(), count, out.stride());
    if (used_.empty()) {
      for (int64_t i = 0; i < part.rows(); ++i) std::fill_n(part.row(i), count, 0.0f);
      return;
    }
    gemm_nt(1, used_columns(left_, begin, begin + out.rows()),
            used_columns(right_, first, out.cols()), 0, part);
    const auto finish = MILIEU_SELECT_ISA(distances_from_products);
    for (int64_t i = 0; i < part.rows(); ++i)
      finish(norms_[begin + i], norms_.data() + first, least_, count, part.row(i));
  }

  bool all_equal(int64_t t) const {
    for (int64_t p = 1; p < points_.rows(); ++p)
      if (points_(p, t) != points_(0, t)) return false;
    return true;
  }

  Matrix<float> points_;        // n x d
  Matrix<float> centred_;       // their columns' means subtracted
  std::vector<int64_t> used_;   // columns whose weight is not 0
  Matrix<float> left_, right_;  // these columns first, plain and times w
  std::vector<float> norms_;
  std::vector<double> w_;
  float least_ = 0;  // clips what rounding makes negative
};

// Matrices that are there, or that are made tile by tile from columns of the points.
class DistanceFeatures : public PairFeatures {
 public:
  struct Source {
    FloatView matrix;    // empty: computed from `points`
    Matrix<float> kept;  // what `matrix` refers to, where we own it
    FloatView points;    // the candidate's columns
    Distance distance = Distance::Euclidean;
    double gamma = 0;
  };

  explicit DistanceFeatures(std::vector<Source> sources, int64_t n)
      : sources_(std::move(sources)), n_(n) {}

  int64_t num_samples() const override { return n_; }
  int64_t num_features() const override { return static_cast<int64_t>(sources_.size()); }
  void set_weights(std::span<const double> w) override { w_.assign(w.begin(), w.end()); }

  // Keeps the matrix of feature t. False when the monitor stops it.
  bool keep(size_t t, int num_threads, Monitor& monitor) {
    Matrix<float> kept(n_, n_);
    parallel_for(n_, kRowsPerTile, num_threads, [&](const Block& block) {
      if (!monitor.should_stop())
        tile(t, block.begin, kept.view().rows_between(block.begin, block.end));
    });
    sources_[t].kept = std::move(kept);
    sources_[t].matrix = sources_[t].kept.view();
    return !monitor.should_stop();
  }

  void rows(int64_t begin, MatrixView<float> out) const override {
    const auto add = MILIEU_SELECT_ISA(add_scaled);
    for (int64_t i = 0; i < out.rows(); ++i) std::fill_n(out.row(i), n_, 0.0f);
    for_each_tile(begin, out.rows(), [&](size_t t, int64_t i, const float* row) {
      add(row, static_cast<float>(w_[t]), n_, out.row(i));
    });
    for (int64_t i = 0; i < out.rows(); ++i) out(i, begin + i) = 0;
  }

  void rows(int64_t begin, MatrixView<double> out) const override {
    for (int64_t i = 0; i < out.rows(); ++i) std::fill_n(out.row(i), n_, 0.0);
    for_each_tile(begin, out.rows(), [&](size_t t, int64_t i, const float* row) {
      for (int64_t q = 0; q < n_; ++q) out(i, q) += w_[t] * row[q];
    });
    for (int64_t i = 0; i < out.rows(); ++i) out(i, begin + i) = 0;
  }

  void add_pair(int64_t p, int64_t q, double factor, std::span<double> sum) const override {
    if (p == q) return;
    for (size_t t = 0; t < sources_.size(); ++t) {
      const Source& source = sources_[t];
      float value = 0;
      if (!source.matrix.empty())
        value = source.matrix(p, q);
      else
        pair_distances(source.distance, source.points.rows_between(p, p + 1),
                       source.points.rows_between(q, q + 1), MatrixView<float>(&value, 1, 1),
                       source.gamma);
      sum[t] += factor * value;
    }
  }

  std::vector<double> sums(int num_threads) const override {
    std::vector<double> all;
    for (size_t t = 0; t < sources_.size(); ++t)
      all.push_back(parallel_reduce(
          n_, kRowsPerTile, num_threads, 0.0,
          [&](const Block& block, double& sum) {
            Matrix<float> scratch(block.size(), n_);
            tile(t, block.begin, scratch);
            for (int64_t i = 0; i < block.size(); ++i)
              for (int64_t q = 0; q < n_; ++q)
                if (q != block.begin + i) sum += std::abs(scratch(i, q));
          },
          [](double& total, double part) { total += part; }));
    return all;
  }

 private:
  void tile(size_t t, int64_t begin, MatrixView<float> out) const {
    const Source& source = sources_[t];
    if (source.matrix.empty())
      return pair_distances(source.distance, source.points.rows_between(begin, begin + out.rows()),
                            source.points, out, source.gamma);
    for (int64_t i = 0; i < out.rows(); ++i)
      std::copy_n(source.matrix.row(begin + i), n_, out.row(i));
  }

  // use(t, i, row begin + i of feature t) for every weight that is not 0.
  template <class Use>
  void for_each_tile(int64_t begin, int64_t count, Use&& use) const {
    Matrix<float> scratch;
    for (size_t t = 0; t < sources_.size(); ++t) {
      if (w_[t] == 0) continue;
      const bool is_kept = !sources_[t].matrix.empty();
      if (!is_kept && scratch.empty()) scratch = Matrix<float>(count, n_);
      if (!is_kept) tile(t, begin, scratch);
      for (int64_t i = 0; i < count; ++i)
        use(t, i, is_kept ? sources_[t].matrix.row(begin + i) : scratch.row(i));
    }
  }

  std::vector<Source> sources_;
  int64_t n_;
  std::vector<double> w_;
};

FloatView columns_of(FloatView points, const CandidateDistance& candidate) {
  const int64_t count =
      candidate.num_columns > 0 ? candidate.num_columns : points.cols() - candidate.first_column;
  return {points.data() + candidate.first_column, points.rows(), count, points.stride()};
}

}  // namespace

std::unique_ptr<PairFeatures> make_coordinate_features(FloatView points) {
  return std::make_unique<CoordinateFeatures>(points);
}

std::unique_ptr<PairFeatures> make_distance_features(
    FloatView points, const std::vector<CandidateDistance>& candidates, double* budget_bytes,
    int num_threads, Monitor& monitor) {
  std::vector<DistanceFeatures::Source> sources(candidates.size());
  for (size_t t = 0; t < candidates.size(); ++t) {
    sources[t].points = columns_of(points, candidates[t]);
    sources[t].distance = candidates[t].distance;
    sources[t].gamma = candidates[t].gamma;
  }
  auto features = std::make_unique<DistanceFeatures>(std::move(sources), points.rows());
  const double bytes =
      4.0 * static_cast<double>(points.rows()) * static_cast<double>(points.rows());
  for (size_t t = 0; t < candidates.size() && *budget_bytes >= bytes; ++t) {
    *budget_bytes -= bytes;
    monitor.on_progress("distances", static_cast<int64_t>(t),
                        static_cast<int64_t>(candidates.size()));
    if (!features->keep(t, num_threads, monitor)) return nullptr;
  }
  return features;
}

std::unique_ptr<PairFeatures> make_matrix_features(std::vector<FloatView> matrices) {
  std::vector<DistanceFeatures::Source> sources(matrices.size());
  for (size_t t = 0; t < matrices.size(); ++t) sources[t].matrix = matrices[t];
  return std::make_unique<DistanceFeatures>(std::move(sources), matrices[0].rows());
}

}  // namespace milieu

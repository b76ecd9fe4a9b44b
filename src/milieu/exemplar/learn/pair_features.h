// SPDX-License-Identifier: Apache-2.0
// Candidate distances between the samples of one set, f_pq,t for t < F, and their weighted sum d_pq
// = sum_t w_t f_pq,t [Komodakis11, Eq. 10]. F dense n x n matrices are stored only within a budget:
// squared differences of coordinates need one product, other distances are computed tile by tile.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/monitor.h"
#include "milieu/linalg/matrix.h"
#include "milieu/linalg/pair_distance.h"

namespace MILIEU_API milieu {

// One candidate: a distance on some columns of the points.
struct CandidateDistance {
  std::string name;  // "sift chi-squared"
  Distance distance = Distance::Euclidean;
  double gamma = 0;  // of rbf; 0: chosen from the training sets
  int64_t first_column = 0;
  int64_t num_columns = 0;  // 0: all from the first on
};

class PairFeatures {
 public:
  virtual ~PairFeatures() = default;
  virtual int64_t num_samples() const = 0;
  virtual int64_t num_features() const = 0;

  // Sets w, the weights that rows() uses. Any sign is allowed.
  virtual void set_weights(std::span<const double> w) = 0;
  // out(i, q) = d of rows begin + i and q; out has n columns. The diagonal is 0 up to rounding.
  // Single-threaded; may be called for different rows at the same time.
  virtual void rows(int64_t begin, MatrixView<float> out) const = 0;
  virtual void rows(int64_t begin, MatrixView<double> out) const = 0;
  // True when d_pq = d_qp for all pairs: then upper_rows() is enough.
  virtual bool is_symmetric() const { return false; }
  // Like rows(), but only columns from `begin` on; out still has n of them.
  virtual void upper_rows(int64_t begin, MatrixView<float> out) const { rows(begin, out); }
  virtual void upper_rows(int64_t begin, MatrixView<double> out) const { rows(begin, out); }
  // sum[t] += factor * f_pq,t.
  virtual void add_pair(int64_t p, int64_t q, double factor, std::span<double> sum) const = 0;
  // Sum over all ordered pairs of the absolute value of every feature, the diagonal counting as 0.
  virtual std::vector<double> sums(int num_threads) const = 0;

  // What the weights add to the cost d_qq of exemplar q [Komodakis11, Eq. 10 with p = q]:
  // own[q] += sum_t w_t f_qq,t.
  virtual void add_own(std::span<double>) const {}
  // sum[t] += factor * f_qq,t.
  virtual void add_own_gradient(int64_t, double, std::span<double>) const {}
};

// f_pq,t = (x_pt - x_qt)^2. The points are copied, with the columns' means subtracted.
std::unique_ptr<PairFeatures> make_coordinate_features(FloatView points);

// Distances of columns of the points. Those that fit into *budget_bytes are kept as n x n matrices
// and subtracted from the budget; the others are recomputed on every use. `points` must outlive the
// result. Null when the monitor stops it.
std::unique_ptr<PairFeatures> make_distance_features(
    FloatView points, const std::vector<CandidateDistance>& candidates, double* budget_bytes,
    int num_threads, Monitor& monitor);

// Matrices computed elsewhere, n x n each, [p, q] the cost of serving p by q; they must outlive it.
// The diagonals are not read.
std::unique_ptr<PairFeatures> make_matrix_features(std::vector<FloatView> matrices);

// The features of `base`, and costs of exemplars that depend on weights: f_qq,t is own(q, t).
// `is_shared`: own has one column per feature of `base`, with its weight; else the columns are
// further features, 0 for all pairs.
std::unique_ptr<PairFeatures> make_own_cost_features(std::shared_ptr<PairFeatures> base,
                                                     Matrix<float> own, bool is_shared);

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Problem: places that the weights of their neighbours give again.
// Given: weights W, rows summing to 1, that place every sample best among its neighbours. Find: the
//   p eigenvectors of M = (I - W)'(I - W) with the smallest eigenvalues beside the constant one.
// Conventions: of length 1, the largest entry positive; found as the largest ones of (M + eps I)^-1
//   on vectors without a mean.
// See: [Roweis00]; weights and the map for new samples are those of scikit-learn.
#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/classic/manifold/manifold_steps.h"
#include "milieu/classic/ncut/ncut_solvers_internal.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu::internal {

namespace {

constexpr double kRidge = 1e-3;  // of the trace
using Sparse = Eigen::SparseMatrix<double>;

void remove_mean(Eigen::VectorXd& x) { x.array() -= x.mean(); }

Sparse reconstruction_cost(FloatView points, const NeighborLists& near, int num_threads) {
  const int64_t n = points.rows(), k = near.indices.cols();
  Matrix<double> weights(n, k);
  parallel_for(n, 64, num_threads, [&](const Block& block) {
    for (int64_t i = block.begin; i < block.end; ++i) {
      const std::vector<double> own =
          barycenter_weights(points, near.indices.view().row_span(i), points.row(i));
      std::ranges::copy(own, weights.row(i));
    }
  });
  std::vector<Eigen::Triplet<double>> entries;
  for (int64_t i = 0; i < n; ++i) {
    entries.emplace_back(i, i, 1.0);
    for (int64_t a = 0; a < k; ++a) entries.emplace_back(i, near.indices(i, a), -weights(i, a));
  }
  Sparse residual(n, n);
  residual.setFromTriplets(entries.begin(), entries.end());
  return Sparse(residual.transpose()) * residual;
}

}  // namespace

std::vector<double> barycenter_weights(FloatView samples, std::span<const int> neighbors,
                                       const float* point) {
  const auto k = static_cast<Eigen::Index>(neighbors.size());
  Eigen::MatrixXd away(k, samples.cols());
  for (Eigen::Index a = 0; a < k; ++a)
    for (int64_t t = 0; t < samples.cols(); ++t)
      away(a, t) = static_cast<double>(samples(neighbors[a], t)) - point[t];
  Eigen::MatrixXd gram = away * away.transpose();
  const double trace = gram.trace();
  gram.diagonal().array() += trace > 0 ? kRidge * trace : kRidge;
  const Eigen::VectorXd weights = gram.llt().solve(Eigen::VectorXd::Ones(k));
  const double sum = weights.sum();
  std::vector<double> out(weights.data(), weights.data() + k);
  for (double& weight : out) weight /= sum;
  return out;
}

ManifoldResult fit_lle(FloatView points, const ManifoldOptions& options, Monitor& monitor) {
  ManifoldResult result;
  NeighborOptions search;
  search.exclude_self = true;
  search.num_threads = options.num_threads;
  const NeighborLists near =
      nearest_neighbors(points, points, options.num_neighbors, search, monitor);
  if (monitor.should_stop()) return result;
  Sparse cost = reconstruction_cost(points, near, options.num_threads);
  const double shift = 1e-12 * cost.diagonal().sum();
  for (Eigen::Index i = 0; i < cost.rows(); ++i) cost.coeffRef(i, i) += shift;
  const Eigen::SimplicialLDLT<Sparse> factor(cost);
  if (factor.info() != Eigen::Success || monitor.should_stop()) {
    if (monitor.should_stop()) return result;
    throw DataError("lle: the weights of the neighbours leave no embedding: use more neighbours");
  }
  std::vector<double> start(static_cast<size_t>(points.rows()));
  Random random = Random(options.seed).child(1);
  for (double& x : start) x = random.normal();
  const auto multiply = [&](const double* x, double* y) {
    Eigen::VectorXd v = Eigen::Map<const Eigen::VectorXd>(x, cost.rows());
    remove_mean(v);
    v = factor.solve(v);
    remove_mean(v);
    Eigen::Map<Eigen::VectorXd>(y, cost.rows()) = v;
  };
  EigenPairs pairs =
      solve_lanczos(multiply, start, {.count = options.num_dims, .tolerance = 1e-10});
  if (static_cast<int>(pairs.values.size()) < options.num_dims)
    throw DataError("lle: the eigenvectors were not found: use more neighbours");
  fix_signs(pairs.vectors);
  result.model.settings = {0, options.num_neighbors};
  result.model.samples = Matrix<float>(points);
  result.model.places = Matrix<double>(points.rows(), options.num_dims);
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t a = 0; a < options.num_dims; ++a) result.model.places(i, a) = pairs.vectors(a, i);
  return result;
}

}  // namespace milieu::internal

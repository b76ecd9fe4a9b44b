// SPDX-License-Identifier: Apache-2.0
// Problem: places whose distances are the lengths of shortest paths along a graph of neighbours.
// Given: samples. Find: the p largest eigenvectors of B = -J D^2 J / 2, D the lengths between the
//   landmarks, J the centring matrix; a sample with squared lengths d to the landmarks is at
//   -V' (d - mean d) / (2 sqrt(lambda)).
// Conventions: all samples are landmarks where there are few; the largest entry of each eigenvector
//   is positive.
// See: [Tenenbaum00]; the map for new samples is that of scikit-learn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/base/memory.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/classic/manifold/manifold_steps.h"
#include "milieu/classic/ncut/ncut_solvers_internal.h"

namespace milieu::internal {

namespace {

std::vector<int64_t> choose_landmarks(int64_t n, const ManifoldOptions& options) {
  std::vector<int64_t> landmarks(static_cast<size_t>(n));
  std::iota(landmarks.begin(), landmarks.end(), int64_t{0});
  if (n <= options.max_landmarks) return landmarks;
  landmarks = Random(options.seed).sample_without_replacement(n, options.max_landmarks);
  std::ranges::sort(landmarks);
  return landmarks;
}

// -D^2 / 2 between the landmarks, without the means of rows and columns; `means` gets those of D^2.
Matrix<double> centred_squares(const Matrix<float>& geodesics,
                               const std::vector<int64_t>& landmarks, std::vector<double>& means) {
  const auto l = static_cast<int64_t>(landmarks.size());
  Matrix<double> squares(l, l);
  means.assign(static_cast<size_t>(l), 0.0);
  double total = 0;
  for (int64_t i = 0; i < l; ++i)
    for (int64_t j = 0; j < l; ++j) {
      const double length = geodesics(i, landmarks[j]);
      squares(i, j) = length * length;
      means[j] += squares(i, j) / static_cast<double>(l);
      total += squares(i, j) / (static_cast<double>(l) * static_cast<double>(l));
    }
  for (int64_t i = 0; i < l; ++i)
    for (int64_t j = 0; j < l; ++j)
      squares(i, j) = -0.5 * (squares(i, j) - means[i] - means[j] + total);
  return squares;
}

EigenPairs largest_pairs(const Matrix<double>& matrix, int64_t count, uint64_t seed,
                         int num_threads) {
  constexpr int64_t kDense = 64;
  const int64_t l = matrix.rows();
  if (l <= kDense) return solve_dense(matrix, count);
  std::vector<double> start(static_cast<size_t>(l));
  Random random = Random(seed).child(1);
  for (double& x : start) x = random.normal();
  const auto multiply = [&](const double* x, double* y) {
    parallel_for(l, 64, num_threads, [&](const Block& block) {
      for (int64_t i = block.begin; i < block.end; ++i)
        y[i] = std::inner_product(x, x + l, matrix.row(i), 0.0);
    });
  };
  return solve_lanczos(multiply, start, {.count = count, .tolerance = 1e-10});
}

}  // namespace

ManifoldResult fit_isomap(FloatView points, const ManifoldOptions& options, Monitor& monitor) {
  const std::vector<int64_t> landmarks = choose_landmarks(points.rows(), options);
  const auto l = static_cast<int64_t>(landmarks.size());
  require_memory({static_cast<double>(l) *
                      (4.0 * static_cast<double>(points.rows()) + 8.0 * static_cast<double>(l)),
                  "distances along the graph of isomap", "use fewer samples"});
  ManifoldResult result;
  const NeighborGraph graph =
      make_neighbor_graph(points, options.num_neighbors, options.num_threads, monitor);
  if (monitor.should_stop()) return result;
  if (graph.num_pieces > 1)
    result.warnings.push_back(fmt::format(
        "the graph of isomap is in {} pieces, which were joined where they are nearest: use more "
        "neighbours",
        graph.num_pieces));
  ManifoldModel model;
  model.settings = {1, options.num_neighbors};
  model.geodesics = Matrix<float>(l, points.rows());
  parallel_for(l, 1, options.num_threads, [&](const Block& block) {
    if (!monitor.should_stop())
      shortest_paths(graph, static_cast<int>(landmarks[block.begin]),
                     model.geodesics.row_span(block.begin));
  });
  if (monitor.should_stop()) return result;
  const Matrix<double> squares = centred_squares(model.geodesics, landmarks, model.means);
  EigenPairs pairs = largest_pairs(squares, options.num_dims, options.seed, options.num_threads);
  const auto found = static_cast<int64_t>(pairs.values.size());
  if (found < options.num_dims || !(pairs.values.back() > 1e-9 * pairs.values.front()))
    throw DataError(fmt::format(
        "isomap: the samples span fewer than {} dimensions: use fewer, or more neighbours",
        options.num_dims));
  fix_signs(pairs.vectors);
  model.maps = std::move(pairs.vectors);
  for (int64_t a = 0; a < found; ++a)
    for (double& entry : model.maps.row_span(a)) entry /= std::sqrt(pairs.values[a]);
  model.samples = Matrix<float>(points);
  result.model = std::move(model);
  return result;
}

}  // namespace milieu::internal

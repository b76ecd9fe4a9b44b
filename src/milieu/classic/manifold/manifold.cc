// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/manifold/manifold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/classic/manifold/manifold_steps.h"
#include "milieu/neighbors/check_points.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu {

namespace {

constexpr int64_t kRowsPerBlock = 64;

// By the shortest path from each landmark through one of the neighbours.
void place_by_paths(const ManifoldModel& model, const NeighborLists& near, int64_t i,
                    double* place) {
  const int64_t l = model.geodesics.rows();
  std::fill_n(place, model.maps.rows(), 0.0);
  for (int64_t j = 0; j < l; ++j) {
    double length = std::numeric_limits<double>::infinity();
    for (int64_t k = 0; k < near.indices.cols(); ++k)
      length = std::min(
          length, std::sqrt(near.squared_distances(i, k)) + model.geodesics(j, near.indices(i, k)));
    const double centred = -0.5 * (length * length - model.means[j]);
    for (int64_t a = 0; a < model.maps.rows(); ++a) place[a] += model.maps(a, j) * centred;
  }
}

// Where the weights of the neighbours put it; a sample of the fit is where it is.
void place_by_weights(const ManifoldModel& model, const NeighborLists& near, int64_t i,
                      const float* point, double* place) {
  const std::span<const int> neighbors = near.indices.view().row_span(i);
  if (near.squared_distances(i, 0) == 0) {
    std::copy_n(model.places.row(neighbors[0]), model.places.cols(), place);
    return;
  }
  const std::vector<double> weights = internal::barycenter_weights(model.samples, neighbors, point);
  std::fill_n(place, model.places.cols(), 0.0);
  for (size_t k = 0; k < weights.size(); ++k)
    for (int64_t a = 0; a < model.places.cols(); ++a)
      place[a] += weights[k] * model.places(neighbors[k], a);
}

}  // namespace

void internal::fix_signs(Matrix<double>& rows) {
  for (int64_t a = 0; a < rows.rows(); ++a) {
    const std::span<double> row = rows.row_span(a);
    const auto largest = std::ranges::max_element(row, {}, [](double x) { return std::abs(x); });
    if (*largest < 0)
      for (double& x : row) x = -x;
  }
}

ManifoldResult fit_manifold(FloatView points, const ManifoldOptions& options, Monitor& monitor) {
  require(options.num_dims >= 1 && options.num_neighbors >= 1 && options.max_landmarks >= 2,
          "fit_manifold: num_dims, num_neighbors and max_landmarks must be positive");
  check_points(points, "points", options.num_threads);
  require(points.rows() > options.num_neighbors, [&] {
    return fmt::format("num_neighbors is {}, but there {} {}: it must be below their number",
                       options.num_neighbors, by_number(points.rows(), "is", "are"),
                       counted(points.rows(), "sample"));
  });
  require(points.rows() > options.num_dims + 1, [&] {
    return fmt::format("num_dims is {}, too many for {}", options.num_dims,
                       counted(points.rows(), "sample"));
  });
  return options.kind == ManifoldKind::Isomap ? internal::fit_isomap(points, options, monitor)
                                              : internal::fit_lle(points, options, monitor);
}

Matrix<double> map_to_manifold(const ManifoldModel& model, FloatView points, int num_threads) {
  require(points.cols() == model.samples.cols(), [&] {
    return fmt::format("points have {}, the embedding was fitted on {}",
                       counted(points.cols(), "column"), model.samples.cols());
  });
  Matrix<double> places(points.rows(), model.num_dims());
  if (points.rows() == 0) return places;
  NeighborOptions search;
  search.num_threads = num_threads;
  const NeighborLists near =
      nearest_neighbors(model.samples, points, model.num_neighbors(), search);
  parallel_for(points.rows(), kRowsPerBlock, num_threads, [&](const Block& block) {
    for (int64_t i = block.begin; i < block.end; ++i) {
      if (model.is_isomap())
        place_by_paths(model, near, i, places.row(i));
      else
        place_by_weights(model, near, i, points.row(i), places.row(i));
    }
  });
  return places;
}

bool is_consistent(const ManifoldModel& m) {
  if (m.empty()) return true;
  if (m.settings.size() != 2 || m.settings[0] < 0 || m.settings[0] > 1 || m.settings[1] < 1 ||
      m.samples.rows() <= m.settings[1])
    return false;
  if (!m.is_isomap()) return m.places.rows() == m.samples.rows() && m.places.cols() >= 1;
  const int64_t l = m.geodesics.rows();
  return l >= 2 && m.geodesics.cols() == m.samples.rows() && m.maps.cols() == l &&
         m.maps.rows() >= 1 && static_cast<int64_t>(m.means.size()) == l;
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Labels of samples from a fitted model: a projection, a cell, a look-up.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/icc/icc.h"
#include "milieu/icc/icc_fit_internal.h"
#include "milieu/icc/icc_frame_internal.h"
#include "milieu/icc/icc_free_internal.h"
#include "milieu/linalg/finite.h"

namespace milieu {

namespace {

using namespace internal;

constexpr int64_t kRowsPerBlock = 1 << 13;

// The parts of a model that climbs off the grid; `total` sub-classes.
bool fits_free(const IccModel& m, int total) {
  if (!std::isfinite(m.reach) || m.samples.cols() != m.axes.rows() || m.samples.empty() ||
      m.sample_classes.size() != static_cast<size_t>(m.samples.rows()) ||
      m.modes.cols() != m.samples.cols() || m.modes.empty() ||
      m.mode_labels.size() != static_cast<size_t>(m.modes.rows()) || find_non_finite(m.samples) ||
      find_non_finite(m.modes))
    return false;
  const std::vector<int> class_from_subclass = m.class_from_subclass();
  std::vector<char> has_mode(m.subclasses.size(), 0);
  int last_class = 0;
  for (const int label : m.mode_labels) {  // class by class
    if (label < 0 || label >= total || class_from_subclass[label] < last_class) return false;
    last_class = class_from_subclass[label];
    has_mode[last_class] = 1;
  }
  return std::ranges::find(has_mode, 0) == has_mode.end() &&
         std::ranges::all_of(m.sample_classes,
                             [&](int c) { return c >= -1 && c <= m.num_classes(); });
}

bool fits_grid(const IccModel& m) {
  if (m.grid.size() != static_cast<size_t>(m.axes.rows()) || m.grid.size() > kMaxGridDims ||
      !std::ranges::all_of(m.grid, [](int u) { return u >= 1 && u <= 1'000'000; }))
    return false;
  const int64_t cells = Grid{m.grid}.num_cells();
  if (m.maps.cols() != cells || m.maps.rows() != m.num_classes() ||
      static_cast<int64_t>(m.cell_labels.size()) != cells * m.num_classes())
    return false;
  for (int64_t i = 0; i < static_cast<int64_t>(m.cell_labels.size()); ++i)
    if (m.cell_labels[i] < 0 || m.cell_labels[i] >= m.subclasses[i / cells]) return false;
  return true;
}

// A file with the right checksum may still be inconsistent.
void check_model(const IccModel& m) {
  const auto p = static_cast<size_t>(m.axes.rows());
  const bool fits_manifold =
      is_consistent(m.manifold) && (m.manifold.empty() || m.manifold.num_dims() == m.axes.cols());
  bool fits = fits_manifold && p >= 1 && m.origin.size() == p && m.low.size() == p &&
              m.high.size() == p && !m.subclasses.empty();
  for (size_t a = 0; fits && a < p; ++a)
    fits = std::isfinite(m.low[a]) && std::isfinite(m.high[a]) && m.high[a] > m.low[a] &&
           std::isfinite(m.origin[a]);
  int64_t total = 0;
  for (const int count : m.subclasses) {
    fits = fits && count >= 1;
    total += count;
  }
  fits = fits && total == static_cast<int64_t>(m.heights.size()) && m.reach >= 0;
  if (!fits || !(m.reach > 0 ? fits_free(m, static_cast<int>(total)) : fits_grid(m)))
    throw DataError("the arrays of the icc model are inconsistent");
}

int class_at(const IccModel& model, int32_t cell) {
  int best = 0;
  for (int c = 1; c < model.num_classes(); ++c)
    if (model.maps(c, cell) > model.maps(best, cell)) best = c;
  return best;
}

}  // namespace

Matrix<float> internal::manifold_rows(const ManifoldModel& model, FloatView points,
                                      int num_threads) {
  const Matrix<double> places = map_to_manifold(model, points, num_threads);
  Matrix<float> rows(places.rows(), places.cols());
  std::copy_n(places.data(), places.size(), rows.data());
  return rows;
}

void internal::label_cells(const IccModel& model, std::span<const int> classes,
                           std::span<int32_t> cells, int num_threads) {
  const int64_t num_cells = Grid{model.grid}.num_cells();
  std::vector<int> first(model.num_classes(), 0);
  for (int c = 1; c < model.num_classes(); ++c) first[c] = first[c - 1] + model.subclasses[c - 1];
  parallel_for(static_cast<int64_t>(cells.size()), kRowsPerBlock, num_threads,
               [&](const Block& block) {
                 for (int64_t i = block.begin; i < block.end; ++i) {
                   int own = classes.empty() ? -1 : classes[i];
                   if (own < 0) own = model.num_classes() == 1 ? 0 : class_at(model, cells[i]);
                   cells[i] = first[own] + model.cell_labels[own * num_cells + cells[i]];
                 }
               });
}

std::vector<int> internal::predict_on_grid(const IccModel& model, FloatView points,
                                           std::span<const int> classes, int num_threads) {
  const Grid grid{model.grid};
  const Projection scaled =
      cell_projection({model.axes, model.origin}, model.low, model.high, grid);
  std::vector<int> labels(points.rows());
  parallel_for(points.rows(), kRowsPerBlock, num_threads, [&](const Block& block) {
    find_cells(scaled, grid, points.rows_between(block.begin, block.end),
               labels.data() + block.begin);
  });
  label_cells(model, classes, labels, num_threads);
  return labels;
}

Matrix<double> project(const IccModel& model, FloatView points) {
  Matrix<float> places;
  if (!model.manifold.empty()) {
    places = manifold_rows(model.manifold, points, 0);
    points = places;
  }
  require(points.cols() == model.axes.cols(), [&] {
    return fmt::format("points have {}, the model was fitted on {}",
                       counted(points.cols(), "column"), model.axes.cols());
  });
  Matrix<double> coordinates(points.rows(), model.axes.rows());
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t a = 0; a < model.axes.rows(); ++a) {
      double sum = model.origin[a];
      for (int64_t j = 0; j < points.cols(); ++j) sum += model.axes(a, j) * points(i, j);
      coordinates(i, a) = sum;
    }
  return coordinates;
}

std::vector<int> predict(const IccModel& model, FloatView points, std::span<const int> classes,
                         int num_threads) {
  check_model(model);
  const int64_t width = model.manifold.empty() ? model.axes.cols() : model.manifold.samples.cols();
  require(points.cols() == width, [&] {
    return fmt::format("points have {}, the model was fitted on {}",
                       counted(points.cols(), "column"), width);
  });
  require(classes.empty() || static_cast<int64_t>(classes.size()) == points.rows(), [&] {
    return fmt::format("there are {} for {}: they must match",
                       counted(classes.size(), "class", "classes"),
                       counted(points.rows(), "point"));
  });
  for (const int c : classes)
    require(c >= -1 && c < model.num_classes(), [&] {
      return fmt::format("class {} is unknown to the model: it has {}", c, model.num_classes());
    });
  if (const auto place = find_non_finite(points, num_threads))
    throw DataError(fmt::format("points has {} at row {}, column {} (counted from 0)",
                                points(place->row, place->column), place->row, place->column));
  if (model.reach == 0) {
    if (model.manifold.empty()) return predict_on_grid(model, points, classes, num_threads);
    const Matrix<float> rows = manifold_rows(model.manifold, points, num_threads);
    return predict_on_grid(model, rows, classes, num_threads);
  }
  const Matrix<double> places = project(model, points);
  Matrix<float> units(places.rows(), places.cols());
  std::copy_n(places.data(), places.size(), units.data());
  return predict_free(model, std::move(units), classes, num_threads, silent_monitor());
}

std::vector<int> predict(const IccModel& model, FloatView points, int num_threads) {
  return predict(model, points, {}, num_threads);
}

}  // namespace milieu

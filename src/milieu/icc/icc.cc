// SPDX-License-Identifier: Apache-2.0
// Problem: sub-classes of every class such that samples of one sub-class climb to the same local
//   maximum of the difference of density, DoD_i = d_i - (density of all other classes).
// Given: samples x in R^d with classes, a kernel of covariance Lambda, a grid of u x v [x w] cells.
// Find: a label for every sample: class by class, sub-classes in the order of their maxima.
// Symbols: u, v grid; s standard deviation of the kernel in cells (sigmas); z = window * s.
//   A set with a context is one class; the context is counted as another and not split.
// Conventions: one frame for all classes, axis a runs from the lowest to the highest coordinate of
//   all samples over cells 0 .. size - 1, a sample is in the nearest cell; an axis without extent
//   has length 1; the kernel's window is renormalised and sees nothing outside the grid; strict
//   rises only, ties in row order; sub-classes below min_size join over the highest pass. Samples
//   in negative DoD climb out of the context and belong to where they arrive.
// See: [Yu13, Algorithms 1 to 3], docs/algorithms/icc.md.
#include "milieu/icc/icc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/icc/icc_fit_internal.h"
#include "milieu/icc/icc_free_internal.h"
#include "milieu/icc/icc_options_internal.h"
#include "milieu/linalg/finite.h"

namespace milieu {

namespace {

using namespace internal;

void check_finite(FloatView points, const char* name, int num_threads, const Team& team) {
  const Rows own = team.rows(points.rows(), CellCounts::kBlockRows);
  if (const auto bad =
          find_non_finite(points.rows_between(own.begin(), own.end()), own, num_threads))
    throw DataError(
        fmt::format("{} has {} at row {}, column {} (counted from 0): remove or fill it", name,
                    bad->value, bad->row, bad->column));
}

// What ranks divide: the grid. The other ways look at pairs of samples.
void check_team(const IccInput& input, const IccOptions& options) {
  if (!team_of(input).is_shared()) return;
  require(options.climb != IccClimb::Free,
          "climb free runs on one rank: leave it out, or leave out mpirun");
  require(options.projection != IccProjection::Isomap && options.projection != IccProjection::Lle,
          "projections isomap and lle run on one rank: use pca, lda or none, or leave out mpirun");
}

// Number of classes; throws for classes that do not match the samples.
int check_classes(std::span<const int> classes, int64_t n) {
  if (classes.empty()) return 1;
  require(static_cast<int64_t>(classes.size()) == n, [&] {
    return fmt::format("there are {} for {}: they must match",
                       counted(classes.size(), "class", "classes"), counted(n, "point"));
  });
  int lowest = 0, highest = -1;
  for (const int c : classes) {
    lowest = c < lowest ? c : lowest;
    highest = c > highest ? c : highest;
  }
  require(lowest >= -1, [&] {
    const auto row = std::ranges::find_if(classes, [](int c) { return c < -1; }) - classes.begin();
    return fmt::format("classes: row {} has class {}, must be at least 0, or -1 for none", row,
                       classes[row]);
  });
  require(highest >= 0, "classes: no row has a class");
  std::vector<char> is_seen(highest + size_t{2}, 0);  // the first is for -1
  for (const int c : classes) is_seen[c + 1] = 1;
  const auto empty = std::find(is_seen.begin() + 1, is_seen.end(), 0);
  require(empty == is_seen.end(), [&] {
    return fmt::format("classes: class {} of {} has no rows: number the classes 0, 1, 2, ...",
                       empty - is_seen.begin() - 1, highest + 1);
  });
  return highest + 1;
}

void check_input(const IccInput& input, const IccOptions& options) {
  validate_options(options);
  check_team(input, options);
  const Team& team = team_of(input);
  require(!input.points.empty(), "fit_icc: there are no points");
  check_finite(input.points, "points", options.num_threads, team);
  require(input.coordinates.empty() || input.axes.empty(),
          "give coordinates or axes, not both: they are two projections");
  if (!input.coordinates.empty()) {
    require(input.coordinates.rows() == input.points.rows(), [&] {
      return fmt::format("coordinates have {}, points have {}: they must match",
                         counted(input.coordinates.rows(), "row"), input.points.rows());
    });
    check_finite(input.coordinates, "coordinates", options.num_threads, team);
  }
  require(!options.standardize || (options.projection != IccProjection::Isomap &&
                                   options.projection != IccProjection::Lle),
          "standardize is not for projections isomap and lle: divide the columns before");
  if (!input.context.empty()) {
    require(input.classes.empty(), "give classes or a context, not both: a context is for one set");
    require(input.coordinates.empty(),
            "coordinates have no rows for the context: give axes, or use them as points with "
            "projection none");
    require(input.context.cols() == input.points.cols(), [&] {
      return fmt::format("the context has {}, points have {}: they must match",
                         counted(input.context.cols(), "column"), input.points.cols());
    });
    check_finite(input.context, "context", options.num_threads, team);
  }
  require(input.axes.empty() || input.axes.cols() == input.points.cols(), [&] {
    return fmt::format("axes have {}, points have {}: they must match",
                       counted(input.axes.cols(), "column"), input.points.cols());
  });
  const int64_t given = std::max(input.axes.rows(), input.coordinates.cols());
  const int64_t dims =
      given > 0 ? given : static_cast<int64_t>(parse_components(options).places.size());
  const bool is_on_grid = options.climb != IccClimb::Free;
  require(
      !is_on_grid || dims <= kMaxGridDims ||
          (given == 0 && options.projection == IccProjection::None && options.components.empty()),
      [&] {
        return fmt::format("num_dims is {}, must be at most {} on a grid: use climb free for more",
                           dims, kMaxGridDims);
      });
}

// The set and its context as two classes.
struct JoinedRows {
  Matrix<float> points;
  std::vector<int> classes;
};

JoinedRows join_context(const IccInput& input) {
  if (input.context.empty()) return {};
  const int64_t n = input.points.rows(), m = input.context.rows(), d = input.points.cols();
  JoinedRows joined{Matrix<float>(n + m, d), std::vector<int>(n + m, 1)};
  for (int64_t i = 0; i < n; ++i) std::copy_n(input.points.row(i), d, joined.points.row(i));
  for (int64_t i = 0; i < m; ++i) std::copy_n(input.context.row(i), d, joined.points.row(n + i));
  std::fill_n(joined.classes.begin(), n, 0);
  return joined;
}

// The free climb works in units of the kernel: the projection is scaled to them. `num_classes` are
// split.
IccResult fit_without_grid(const IccInput& input, FloatView points, Projection projection,
                           const IccOptions& options, int num_classes, Monitor& monitor) {
  const int p = projection.dims();
  const Bandwidth bandwidth = parse_bandwidth(options.bandwidth, p);
  require(!bandwidth.is_auto && !bandwidth.is_in_cells, [&] {
    return fmt::format("bandwidth is '{}', must be fractions of the range with climb free",
                       options.bandwidth);
  });
  Range range(p);
  range.add(projection, points, options.num_threads);
  range.close();
  std::vector<double> units(p);
  if (bandwidth.is_matrix(p)) {
    units = rotate_to_kernel(projection, range, bandwidth.values);
  } else {
    for (int a = 0; a < p; ++a)
      units[a] =
          bandwidth.values[bandwidth.values.size() == 1 ? 0 : a] * (range.high[a] - range.low[a]);
  }
  IccResult result;
  IccModel& model = result.model;
  for (int a = 0; a < p; ++a) {
    for (double& entry : projection.axes.row_span(a)) entry /= units[a];
    projection.origin[a] /= units[a];
    model.low.push_back(range.low[a] / units[a]);
    model.high.push_back(range.high[a] / units[a]);
  }
  model.axes = std::move(projection.axes);
  model.origin = std::move(projection.origin);
  model.reach = options.window / 2;
  model.density_weight = options.weight == IccWeight::Density;
  const Matrix<double> places = project(model, points);  // the manifold comes later
  model.samples = Matrix<float>(places.rows(), places.cols());
  std::copy_n(places.data(), places.size(), model.samples.data());
  model.sample_classes.assign(input.classes.begin(), input.classes.end());
  if (input.classes.empty()) model.sample_classes.assign(points.rows(), 0);
  result.labels = fit_free(model, options, num_classes, monitor);
  if (result.labels.empty()) {  // stopped: no class is split
    model.subclasses.assign(num_classes, 1);
    model.modes = Matrix<float>(num_classes, p);
    model.maxima = Matrix<double>(num_classes, p);
    model.heights.assign(num_classes, 0);
    model.mode_labels.resize(num_classes);
    std::iota(model.mode_labels.begin(), model.mode_labels.end(), 0);
    result.labels = model.sample_classes;  // the only sub-class of each; -1 stays
    std::erase(result.labels, num_classes);
  }
  return result;
}

}  // namespace

int IccModel::num_subclasses() const {
  return std::accumulate(subclasses.begin(), subclasses.end(), 0);
}

std::vector<int> IccModel::class_from_subclass() const {
  std::vector<int> classes;
  for (size_t c = 0; c < subclasses.size(); ++c)
    classes.insert(classes.end(), subclasses[c], static_cast<int>(c));
  return classes;
}

namespace {

// `given` are the samples to label, `seen` those and the context.
IccResult fit_on_grid(const IccInput& given, const IccInput& seen, Projection projection,
                      const IccOptions& options, int num_classes, Monitor& monitor) {
  const FloatView points = seen.coordinates.empty() ? seen.points : seen.coordinates;
  const Team& team = team_of(given);
  GridFit fit(std::move(projection), options, num_classes, !given.context.empty(), team);
  fit.read_range([&](const auto& visit) { visit(points, seen.classes); });
  std::vector<int> cells(points.rows());
  fit.count([&](const auto& visit) { visit(points, seen.classes); }, monitor, cells);
  IccResult result = fit.split(monitor);
  if (monitor.should_stop()) {  // not all samples were counted
    result.labels = predict_on_grid(result.model, points.rows_between(0, given.points.rows()),
                                    given.classes, options.num_threads);
  } else {
    cells.resize(given.points.rows());
    const Rows own = team.rows(points.rows(), CellCounts::kBlockRows);
    const int64_t begin = std::min(own.begin(), given.points.rows());
    const int64_t count = std::min(own.end(), given.points.rows()) - begin;
    label_cells(result.model,
                given.classes.empty() ? given.classes : given.classes.subspan(begin, count),
                std::span(cells).subspan(begin, count), options.num_threads);
    team.complete<int>(points.rows(), CellCounts::kBlockRows, cells);
    result.labels = std::move(cells);
  }
  return result;
}

bool is_manifold(IccProjection projection) {
  return projection == IccProjection::Isomap || projection == IccProjection::Lle;
}

// Nothing where the options ask for none, or the monitor stopped it.
ManifoldResult fit_surface(FloatView points, const IccOptions& options, Monitor& monitor) {
  if (!is_manifold(options.projection)) return {};
  ManifoldOptions manifold;
  manifold.kind =
      options.projection == IccProjection::Isomap ? ManifoldKind::Isomap : ManifoldKind::Lle;
  manifold.num_dims = parse_components(options).num_needed;
  manifold.num_neighbors = options.manifold_neighbors;
  manifold.seed = options.seed;
  manifold.num_threads = options.num_threads;
  return fit_manifold(points, manifold, monitor);
}

}  // namespace

IccResult fit_icc(const IccInput& given, const IccOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  check_input(given, options);
  const bool has_context = !given.context.empty();
  const JoinedRows joined = join_context(given);
  IccInput input = given;
  if (has_context) input.points = joined.points, input.classes = joined.classes;
  const int num_classes = check_classes(input.classes, input.points.rows());
  const bool has_own_space = !given.coordinates.empty() || !given.axes.empty();
  ManifoldResult surface =
      has_own_space ? ManifoldResult() : fit_surface(input.points, options, monitor);
  Matrix<float> places;
  if (!surface.model.empty()) {
    places = manifold_rows(surface.model, input.points, options.num_threads);
    input.coordinates = places;
  }
  Projection projection = fit_projection(input, options, num_classes);
  if (!surface.model.empty()) projection = choose_axes(std::move(projection), options);
  IccResult result;
  if (options.climb == IccClimb::Free)
    result = fit_without_grid(input, input.coordinates.empty() ? input.points : input.coordinates,
                              std::move(projection), options, num_classes - (has_context ? 1 : 0),
                              monitor);
  else
    result = fit_on_grid(given, input, std::move(projection), options, num_classes, monitor);
  if (!input.classes.empty() && options.projection == IccProjection::Lda &&
      options.components.empty() && result.model.axes.rows() < options.num_dims &&
      input.axes.empty() && input.coordinates.empty())
    result.summary.warnings.push_back(fmt::format(
        "{} {}, fewer than num_dims {}",
        has_context ? "a set and its context have" : fmt::format("{} classes have", num_classes),
        counted(result.model.axes.rows(), "discriminant axis", "discriminant axes"),
        options.num_dims));
  for (std::string& warning : surface.warnings)
    result.summary.warnings.push_back(std::move(warning));
  result.model.manifold = std::move(surface.model);
  finish_summary(result, given.points.rows(), given.points.cols(), options, monitor);
  result.summary.seconds = watch.seconds();
  return result;
}

IccResult fit_icc_stream(const IccSource& source, const IccOptions& options, Monitor& monitor) {
  const Stopwatch watch;
  validate_options(options);
  require(source.num_columns >= 1 && source.num_classes >= 1,
          "fit_icc_stream: the source must have columns and classes");
  require(
      options.climb != IccClimb::Free &&
          (options.projection == IccProjection::Pca || options.projection == IccProjection::None),
      "streamed samples take neither projections lda, isomap and lle nor climb free: use pca or "
      "none, and a grid");
  const bool is_none = options.projection == IccProjection::None;
  const int64_t dims = is_none && options.components.empty()
                           ? source.num_columns
                           : static_cast<int64_t>(parse_components(options).places.size());
  require(dims <= kMaxGridDims, [&] {
    return fmt::format("num_dims is {}, must be at most {} on a grid", dims, kMaxGridDims);
  });
  Projection projection;
  if (is_none) {
    projection = choose_axes(identity_projection(static_cast<int>(source.num_columns)), options);
  } else {
    Moments moments(source.num_columns);
    source.read(
        [&](FloatView points, std::span<const int>) { moments.add(points, options.num_threads); });
    require(moments.count() > 0, "fit_icc_stream: there are no points");
    projection = moments.principal_axes(options);
  }
  GridFit fit(std::move(projection), options, source.num_classes);
  fit.read_range(source.read);
  fit.count(source.read, monitor);
  IccResult result = fit.split(monitor);
  result.summary.sizes = fit.subclass_sizes(result.model);
  finish_summary(result, fit.num_rows(), source.num_columns, options, monitor);
  result.summary.seconds = watch.seconds();
  return result;
}

}  // namespace milieu

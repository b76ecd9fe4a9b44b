// SPDX-License-Identifier: Apache-2.0
// ICC, context-sensitive intra-class clustering [Yu13]: every class is split into sub-classes on
// the map "density of this class minus density of all others", so that other classes in between
// separate the parts of a class. Without classes it is a density clustering that finds its own
// number of clusters. The public interface; the loop is in icc.cc, docs/algorithms/icc.md says how
// to choose.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/inputs.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/ranks/team.h"
#include "milieu/base/summary.h"
#include "milieu/classic/manifold/manifold.h"
#include "milieu/icc/density/density_map.h"
#include "milieu/icc/density/grid.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// The space in which densities are compared: principal axes, discriminant axes of the classes, the
// columns unchanged, or an embedding of the surface that the samples lie on
// (classic/manifold/manifold.h).
enum class IccProjection { Pca, Lda, None, Isomap, Lle };

// How samples find their maximum: steepest neighbour on the grid, the paper's ascent along the
// gradient, or off the grid in any number of dimensions.
enum class IccClimb { Basin, Gradient, Free };

struct IccOptions {
  // Standard deviation of the kernel as a fraction of the axis range ("0.05"), one per axis
  // ("0.05,0.1"), or the rows of a covariance matrix in squared fractions (Lambda in [Yu13, Eq. 2],
  // "0.0025,0.001,0.001,0.0025"); in cells with a c ("8c"); "auto": the smallest at which the
  // sub-classes survive resampling. Larger: fewer sub-classes.
  std::string bandwidth = "0.05";
  std::string grid = "100";  // cells per axis, or "600x200"; only sets the resolution
  IccProjection projection = IccProjection::Pca;
  int num_dims = 2;        // of the projection; up to 3 on a grid, any number with climb free
  std::string components;  // which principal or discriminant axes, counted from 1: "1,3"; empty:
                           // the first num_dims
  int manifold_neighbors = 10;          // of each sample, for isomap and lle
  bool standardize = false;             // divide every feature by its standard deviation first
  IccWeight weight = IccWeight::Count;  // see density_map.h
  IccClimb climb = IccClimb::Basin;
  int min_size = 10;  // smaller sub-classes join the neighbour across the highest pass
  double window = 8;  // width of the kernel's window in standard deviations, z / s in the paper;
                      // below 6 the truncated kernel creates false maxima
  int bootstrap = 0;  // resamples for the uncertainty of the sub-classes; 0: none
  double max_memory_gb = 4;  // for the density maps; larger grids are refused
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
};

template <class Visitor>
void visit_fields(IccOptions& o, Visitor&& v) {
  v("bandwidth", o.bandwidth, anything(),
    "kernel width as a fraction of the axis range: one number, one per axis, or the rows of a "
    "matrix "
    "of squared fractions; 8c means 8 cells; auto chooses by resampling");
  v("grid", o.grid, anything(), "grid cells per axis: 100, or 600x200 for different axes");
  v("projection", o.projection,
    one_of<IccProjection>({{"pca", IccProjection::Pca},
                           {"lda", IccProjection::Lda},
                           {"none", IccProjection::None},
                           {"isomap", IccProjection::Isomap},
                           {"lle", IccProjection::Lle}}),
    "space of the densities: principal axes, discriminant axes, the columns unchanged, or the "
    "surface that the samples lie on, by Isomap or locally linear embedding");
  v("num_dims", o.num_dims, at_least(1).alias("dims"),
    "dimensions of that space; at most 3 on a grid");
  v("components", o.components, anything(),
    "principal or discriminant axes to use, such as 1,3; empty means the first ones");
  v("manifold_neighbors", o.manifold_neighbors, at_least(1),
    "neighbours of each sample, for isomap and lle");
  v("standardize", o.standardize, anything(), "divide features by their standard deviation first");
  v("weight", o.weight,
    one_of<IccWeight>({{"count", IccWeight::Count}, {"density", IccWeight::Density}}),
    "give every sample the same weight, or class and context the same total weight");
  v("climb", o.climb,
    one_of<IccClimb>(
        {{"basin", IccClimb::Basin}, {"gradient", IccClimb::Gradient}, {"free", IccClimb::Free}}),
    "how samples reach their maximum: steepest neighbour on the grid, the paper's gradient ascent, "
    "or without a grid");
  v("min_size", o.min_size, at_least(1), "merge sub-classes with fewer samples into a neighbour");
  v("window", o.window, between(2, 100).advanced(),
    "width of the kernel's window in standard deviations");
  v("bootstrap", o.bootstrap, at_least(0),
    "number of resamples for the uncertainty of the sub-classes; 0 skips it");
  v("max_memory_gb", o.max_memory_gb, above(0).advanced().former("memory_limit", 1e-3),
    "memory for the density maps in gigabytes; larger grids are refused");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

struct IccInput {
  FloatView points;              // n x d samples, rows; finite
  std::span<const int> classes;  // n, in [0, number of classes) or -1 (unknown); empty: no classes
  // At most one of the two, in place of options.projection. num_dims is then their own.
  FloatView coordinates =
      {};                // n x p: the samples in the space of the densities (Isomap, LLE, ...)
  DoubleView axes = {};  // p x d: a linear projection
  // m x d samples that separate the parts of the set, in place of classes; empty: none. All of
  // `points` is then split, as if it were a class with `context` as the only other one.
  FloatView context = {};
  const Team* team = nullptr;  // ranks that divide the passes over rows; null: there is one
};

template <class Visitor>
void visit_inputs(IccInput& in, Visitor&& v) {
  v("context", in.context, InputRule{InputKind::Samples, "m x d"},
    "samples that separate the parts of the set, in place of classes");
  v("coordinates", in.coordinates, InputRule{InputKind::Rows, "n x p"},
    "position of every sample in the space of the densities, in place of --projection");
  v("axes", in.axes, InputRule{InputKind::Table, "p x d"},
    "rows of a linear projection, in place of --projection");
}

// What labels new samples. Coordinates are axes x + origin. Cells of class c are entries
// [c * cells, (c + 1) * cells) of `cell_labels` and row c of `maps`.
struct IccModel {
  static constexpr std::string_view kKind = "icc";
  static constexpr int kFormatVersion = 1;
  Matrix<double> axes;           // p x d
  std::vector<double> origin;    // p
  std::vector<double> low;       // p: the frame, shared by all classes
  std::vector<double> high;      // p
  std::vector<int> grid;         // p: cells per axis
  std::vector<double> sigmas;    // p: standard deviations of the kernel, in cells
  std::vector<int> subclasses;   // classes: how many sub-classes each has
  Matrix<float> maps;            // classes x cells: difference of density
  std::vector<int> cell_labels;  // classes x cells: sub-class, counted within the class
  Matrix<double> maxima;         // sub-classes x p: coordinates of the maxima
  std::vector<double> heights;   // sub-classes: difference of density there
  // Climb free: the samples in units of the kernel, and every maximum found with its sub-class.
  Matrix<float> samples;            // n x p
  std::vector<int> sample_classes;  // n: -1 for none, the number of classes for the context
  Matrix<float> modes;              // m x p
  std::vector<int> mode_labels;     // m
  int density_weight = 0;           // 1: weight density
  double reach = 0;                 // of the kernel, in its units; 0: on the grid
  ManifoldModel manifold;  // of projections isomap and lle: axes and origin are of its places

  int num_classes() const { return static_cast<int>(subclasses.size()); }
  int num_subclasses() const;
  std::vector<int> class_from_subclass() const;
};

template <MaybeConst<IccModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("axes", m.axes);
  v("origin", m.origin);
  v("low", m.low);
  v("high", m.high);
  v("grid", m.grid);
  v("sigmas", m.sigmas);
  v("subclasses", m.subclasses);
  v("maps", m.maps);
  v("cell_labels", m.cell_labels);
  v("maxima", m.maxima);
  v("heights", m.heights);
  v("samples", m.samples);
  v("sample_classes", m.sample_classes);
  v("modes", m.modes);
  v("mode_labels", m.mode_labels);
  v("density_weight", m.density_weight);
  v("reach", m.reach);
  visit_manifold(m.manifold, v);
}

struct IccResult {
  std::vector<int> labels;  // n sub-classes, in [0, all sub-classes): those of class 0 first
  IccModel model;
  // objective: mean over samples of the height of their sub-class's maximum. extra: `subclasses`
  // (one number per class), `bandwidth` (fractions of the axis ranges), `persistence` (height of
  // each sub-class above its pass to a higher one, as a fraction of the height of its map); with
  // bootstrap `survival` (fraction of resamples in which the sub-class remains separate) and
  // `noise` (standard deviation of its persistence).
  RunSummary summary;
};

// Throws InvalidArgument for options that are out of range or do not match the input, an empty
// input, a context beside classes or coordinates, and a grid above max_memory_gb; DataError for
// points that are not finite. A stopped fit does not split the classes it has not reached.
IccResult fit_icc(const IccInput& input, const IccOptions& options,
                  Monitor& monitor = silent_monitor());

// Sub-classes of new samples. Without classes (empty, or -1) a sample belongs to the class with the
// largest difference of density at its position. Samples outside the frame are moved to its border.
// Throws InvalidArgument for points of another width and classes unknown to the model, DataError
// for points that are not finite and for a model with inconsistent arrays.
std::vector<int> predict(const IccModel& model, FloatView points, int num_threads = 0);
std::vector<int> predict(const IccModel& model, FloatView points, std::span<const int> classes,
                         int num_threads = 0);

// Coordinates of samples in the space of the densities: n x p.
Matrix<double> project(const IccModel& model, FloatView points);

// Samples read in chunks, for data larger than memory: `visit` is called with chunk after chunk of
// rows and their classes (empty: no classes). The source is read two to three times and must give
// the same rows each time; nothing the size of the samples is kept. Not for projections lda, isomap
// and lle, and not for climb free. Labels are then predict's, chunk by chunk.
using IccChunkVisitor = std::function<void(FloatView points, std::span<const int> classes)>;
struct IccSource {
  std::function<void(const IccChunkVisitor& visit)> read;
  int num_classes = 1;
  int64_t num_columns = 0;
};
IccResult fit_icc_stream(const IccSource& source, const IccOptions& options,
                         Monitor& monitor = silent_monitor());

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Embeddings of samples that lie on a curved surface, with a map for new samples: Isomap
// [Tenenbaum00], distances along a graph of neighbours kept by few coordinates, and locally linear
// embedding [Roweis00], every sample where the weights of its neighbours put it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

enum class ManifoldKind { Isomap, Lle };

struct ManifoldOptions {
  ManifoldKind kind = ManifoldKind::Isomap;
  int num_dims = 2;
  int num_neighbors = 10;    // of the graph, or of the weights
  int max_landmarks = 1000;  // Isomap: samples whose distances to all others are kept
  uint64_t seed = 1;         // of the landmarks, where there are more samples
  int num_threads = 0;       // 0: all cores; the result does not depend on it
};

// What maps new samples. n samples, p dimensions, l landmarks.
struct ManifoldModel {
  std::vector<int> settings;  // 1 for isomap or 0, num_neighbors; empty: no embedding
  Matrix<float> samples;      // n x d
  Matrix<double> places;      // n x p: of the samples, for lle
  Matrix<float> geodesics;    // l x n: lengths of shortest paths from the landmarks, for isomap
  Matrix<double> maps;        // p x l: eigenvectors over the roots of their values, for isomap
  std::vector<double> means;  // l: mean squared length to the landmarks, for isomap

  bool empty() const { return settings.empty(); }
  bool is_isomap() const { return !empty() && settings[0] == 1; }
  int num_neighbors() const { return empty() ? 0 : settings[1]; }
  int num_dims() const { return static_cast<int>(is_isomap() ? maps.rows() : places.cols()); }
};

// The arrays of a model that another model holds; nothing in files without one.
template <MaybeConst<ManifoldModel> Model, class Visitor>
void visit_manifold(Model& m, Visitor&& v) {
  visit_optional(v, "manifold_settings", m.settings);
  visit_optional(v, "manifold_samples", m.samples);
  visit_optional(v, "manifold_places", m.places);
  visit_optional(v, "manifold_geodesics", m.geodesics);
  visit_optional(v, "manifold_maps", m.maps);
  visit_optional(v, "manifold_means", m.means);
}

struct ManifoldResult {
  ManifoldModel model;
  std::vector<std::string> warnings;  // a graph in pieces, joined where they are nearest
};

// Throws InvalidArgument for options out of range, fewer than num_neighbors + 1 samples and sets
// too large for memory; DataError for entries that are not finite and where the samples span fewer
// dimensions than asked for. When the monitor stops it, the model is empty.
ManifoldResult fit_manifold(FloatView points, const ManifoldOptions& options,
                            Monitor& monitor = silent_monitor());

// Places of new samples, m x p; a sample of the fit has the place of the fit. Isomap: from the
// shortest paths that begin at one of its neighbours. Lle: from the weights of its neighbours.
Matrix<double> map_to_manifold(const ManifoldModel& model, FloatView points, int num_threads = 0);

// Whether the parts of a model read from a file match.
bool is_consistent(const ManifoldModel& model);

}  // namespace milieu

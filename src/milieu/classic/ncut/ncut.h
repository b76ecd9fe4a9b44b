// SPDX-License-Identifier: Apache-2.0
// Normalized cut, also known as spectral clustering: samples are joined by affinities, and the
// graph is cut where little affinity is lost. Finds connected parts of any shape, where k-means
// finds round ones. The public interface; the steps are in ncut_graph.cc and ncut_embedding.cc.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/base/model_visitor.h"
#include "milieu/base/monitor.h"
#include "milieu/base/summary.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct NcutOptions {
  int num_clusters = 8;         // k; at most the number of samples
  double bandwidth = 0;         // sigma of the affinity exp(-d^2 / (2 sigma^2)); larger joins
                                // farther samples. 0: self-tuned, exp(-d^2 / (s_i s_j)) with s_i
                                // the distance of sample i to its `scale_neighbor`-th neighbour.
                                // The affinity exp(-2 d^2) is bandwidth 0.5
  int scale_neighbor = 7;       // K of [ZelnikManor04]; only used when self-tuned
  int num_neighbors = 20;       // each sample is joined to this many nearest ones (and to those
                                // that it is near to); 0: to all, in quadratic memory
  int num_restarts = 10;        // k-means restarts in the embedding; the lowest cut is kept
  int max_iterations = 300;     // k-means iterations per restart
  double rel_tolerance = 1e-4;  // of one k-means restart
  int max_eigen_iterations = 1000;  // restarts of the Lanczos method
  double eigen_tolerance = 1e-8;    // relative residual of an eigenvector
  double max_memory_gb = 4;         // refuse when the affinities need more: 12 bytes per joined
                                    // pair and direction, so 12 n^2 bytes when all are joined
  uint64_t seed = 1;
  int num_threads = 0;  // 0: all cores; the result does not depend on it
};

template <class Visitor>
void visit_fields(NcutOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, at_least(1).alias("k"), "number of clusters");
  v("bandwidth", o.bandwidth, at_least(0),
    "sigma of the affinity exp(-d^2 / (2 sigma^2)); 0 tunes it for each sample");
  v("scale_neighbor", o.scale_neighbor, at_least(1).advanced(),
    "for bandwidth 0: rank of the neighbour whose distance is a sample's scale");
  v("num_neighbors", o.num_neighbors, at_least(0).alias("neighbors"),
    "nearest neighbours each sample is joined to; 0 joins all");
  v("num_restarts", o.num_restarts, at_least(1).alias("restarts"),
    "k-means restarts in the embedding; the lowest cut is kept");
  v("max_iterations", o.max_iterations, at_least(1), "maximum k-means iterations per restart");
  v("rel_tolerance", o.rel_tolerance, at_least(0),
    "k-means stops when its objective falls by less than this fraction");
  v("max_eigen_iterations", o.max_eigen_iterations, at_least(1).advanced(),
    "maximum restarts of the eigenvector iteration");
  v("eigen_tolerance", o.eigen_tolerance, between(1e-14, 1e-2).advanced(),
    "relative residual of an eigenvector");
  v("max_memory_gb", o.max_memory_gb, above(0).advanced(),
    "refuse inputs whose affinities need more memory than this");
  v("seed", o.seed, at_least(0), "random seed");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

struct NcutInput {
  FloatView points;  // n x d samples, rows
};

// The labels and the embedding they were found in. There is no predict: the cut is of the graph of
// these samples, and new samples are not in it.
struct NcutModel {
  static constexpr std::string_view kKind = "ncut";
  static constexpr int kFormatVersion = 1;
  Matrix<float> embedding;  // n x (columns used): unit rows of the leading eigenvectors
  std::vector<int> labels;  // n, as in the result
};

template <MaybeConst<NcutModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("embedding", m.embedding);
  v("labels", m.labels);
}

struct NcutResult {
  std::vector<int> labels;  // n, in [0, number of clusters), numbered by first occurrence
  NcutModel model;
  // objective: the normalized cut of the labels, the sum over clusters of (affinity that leaves the
  // cluster) / (affinity of its samples to all): between 0 and k, lower is better. iterations,
  // restart: of k-means. extra: "components" of the graph, "eigenvalues" of the normalized
  // Laplacian (ascending; only when eigenvectors were needed), "solver".
  RunSummary summary;
};

NcutResult fit_ncut(const NcutInput& input, const NcutOptions& options,
                    Monitor& monitor = silent_monitor());

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Agglomerative clustering: every sample starts as its own cluster, and the two nearest clusters
// are merged until one is left. The whole tree of merges is the model; labels are a cut through it.
// Ward, average, complete and single linkage under the Euclidean distance.
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

// The distance between two clusters A and B, from the distances of their samples.
enum class Linkage {
  Ward,      // sqrt(2 |A||B| / (|A| + |B|)) times the distance of the means: least growth of the
             // within-cluster sum of squares, which is half the squared distance
  Average,   // mean over all pairs
  Complete,  // largest over all pairs
  Single,    // smallest over all pairs
};

struct AgglomerativeOptions {
  int num_clusters = 8;           // clusters to cut the tree into; at most the number of samples
  double distance_threshold = 0;  // above 0: merge clusters up to this distance, however many are
                                  // left; num_clusters is not used then
  Linkage linkage = Linkage::Ward;
  double max_memory_gb = 4;  // refuse when more is needed: 12 n d bytes for Ward's linkage, 2 n^2
                             // (the distances of all pairs) for the others
  uint64_t seed = 1;         // not used: the method has no random part
  int num_threads = 0;       // 0: all cores; the result does not depend on it
};

template <class Visitor>
void visit_fields(AgglomerativeOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, at_least(1).alias("k"), "number of clusters");
  v("distance_threshold", o.distance_threshold, at_least(0),
    "above 0: merge clusters up to this distance instead of down to num_clusters");
  v("linkage", o.linkage,
    one_of<Linkage>({{"ward", Linkage::Ward},
                     {"average", Linkage::Average},
                     {"complete", Linkage::Complete},
                     {"single", Linkage::Single}}),
    "distance between clusters");
  v("max_memory_gb", o.max_memory_gb, above(0).advanced(),
    "refuse inputs that need more memory than this: 12 n d bytes for ward, 2 n^2 for the others");
  v("seed", o.seed, at_least(0), "not used: the method has no random part");
  v("num_threads", o.num_threads, at_least(0).alias("threads"), "threads; 0 means all cores");
}

struct AgglomerativeInput {
  FloatView points;  // n x d samples, rows
};

// The tree and the requested cut. There is no predict: the method defines no place in the
// tree for new samples.
struct AgglomerativeModel {
  static constexpr std::string_view kKind = "agglomerative";
  static constexpr int kFormatVersion = 1;
  // (n - 1) x 4, one merge per row in ascending order of height, in SciPy's linkage convention: the
  // two clusters (smaller number first), their distance, the size of the new cluster. Numbers below
  // n are samples, n + i is the cluster that row i makes. A stopped run has fewer rows.
  Matrix<double> tree;
  std::vector<int> labels;  // n, as in the result
};

template <MaybeConst<AgglomerativeModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("tree", m.tree);
  v("labels", m.labels);
}

struct AgglomerativeResult {
  std::vector<int> labels;  // n, in [0, number of clusters), numbered by first occurrence
  AgglomerativeModel model;
  // objective: height of the last merge that was made (0 if none), the largest distance bridged
  // inside a cluster; trace: heights of the merges made, at most the last 1000; iterations: number
  // of merges made; extra "next_height": height of the first merge that was not made (absent when
  // there is none).
  RunSummary summary;
};

AgglomerativeResult fit_agglomerative(const AgglomerativeInput& input,
                                      const AgglomerativeOptions& options,
                                      Monitor& monitor = silent_monitor());

// Other cuts of a finished tree, without another fit: into `num_clusters` (between 1 and n) or of
// all merges up to `height`. Labels are numbered by first occurrence.
std::vector<int> cut_into(const AgglomerativeModel& model, int num_clusters);
std::vector<int> cut_at(const AgglomerativeModel& model, double height);

}  // namespace milieu

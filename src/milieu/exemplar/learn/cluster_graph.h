// SPDX-License-Identifier: Apache-2.0
// Exemplar clustering as an ordinary graph of crf/graph.h [Komodakis11, Eq. 6 and 17]: the same
// problem that learn.h trains with closed forms, for small sets, for checks, and as a template for
// other models. Variables 0 .. n - 1 say whether sample q is an exemplar (label 1), variables
// n .. 2n - 1 which exemplar sample p belongs to.
#pragma once

#include <memory>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/crf/graph_example.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

struct ClusterGraphOptions {
  double alpha = 1;  // margins, as in ExemplarLearnOptions
  double beta = 1;
  double penalty = 0;           // d_qq
  bool learn_penalty = false;   // the last weight instead
  FloatView own_features = {};  // n x G: adds sum_s w_(F + s) g_qs to d_qq
};

// Weight t < F is that of the squared difference of coordinate t. Labels are 0 .. clusters - 1,
// none empty. The latent step chooses the best exemplar of every true cluster. A dual here has two
// labels, which both move: steps half as long as those of learn.h give the same path.
std::unique_ptr<GraphExample> make_cluster_graph_example(FloatView points,
                                                         const std::vector<int>& labels,
                                                         const ClusterGraphOptions& options,
                                                         int num_threads = 0);

}  // namespace milieu

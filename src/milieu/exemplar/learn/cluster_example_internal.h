// SPDX-License-Identifier: Apache-2.0
// One example clustering in training: the clustering instance of crf/train.h, with the closed forms
// of learn_steps.h. The general trainer sees it as any other CrfExample.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "milieu/crf/train.h"
#include "milieu/exemplar/learn/pair_features.h"

namespace milieu::internal {

struct ClusterExampleOptions {
  double alpha = 1;
  double beta = 1;
  double penalty = 0;          // d_qq; not read where it is learned
  bool learn_penalty = false;  // the last weight is d_qq
  int num_threads = 0;
};

// Labels 0 .. M - 1 of the samples of `features`, none empty; `scale` has one entry per feature:
// d_pq = sum_t w_t scale_t f_pq,t. Float sums, duals and distances; about 8 n^2 bytes.
std::unique_ptr<CrfExample> make_cluster_example(std::shared_ptr<PairFeatures> features,
                                                 std::vector<int> labels, std::vector<double> scale,
                                                 const ClusterExampleOptions& options,
                                                 Monitor& monitor);

// The same in double, by the functions of learn_steps.h themselves; about 17 n^2 bytes, slow.
std::unique_ptr<CrfExample> make_exact_cluster_example(std::shared_ptr<PairFeatures> features,
                                                       std::vector<int> labels,
                                                       std::vector<double> scale,
                                                       const ClusterExampleOptions& options,
                                                       Monitor& monitor);

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// What the tables of cac compare it with, and how.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "milieu/cac/context_groups.h"
#include "milieu/linalg/matrix.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

inline constexpr int kCacSeeds = 3;

// Default options, except those given.
std::vector<int> kmeans_labels(const ReproduceRun& run, FloatView points, int k, uint64_t seed);
std::vector<int> ncut_labels(const ReproduceRun& run, FloatView points, int k, uint64_t seed,
                             int num_neighbors = 20);

// Row g: the mean of the points of group g.
Matrix<float> group_means(FloatView points, const ContextGroups& groups);

// Mean error and CPU seconds of one method after another, over kCacSeeds seeds.
class SeedFigures {
 public:
  SeedFigures(const ReproduceRun& run, const std::vector<int>& classes)
      : run_(run), classes_(classes) {}
  void add(const std::function<std::vector<int>(uint64_t seed)>& labels_of);
  const std::vector<double>& values() const { return values_; }  // error, seconds, error, ...

 private:
  const ReproduceRun& run_;
  const std::vector<int>& classes_;
  std::vector<double> values_;
};

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
#include "reproduce/cac/baselines.h"

#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/ncut/ncut.h"
#include "milieu/metrics/metrics.h"
#include "reproduce/deep/deep.h"

namespace milieu::cli {

std::vector<int> kmeans_labels(const ReproduceRun& run, FloatView points, int k, uint64_t seed) {
  KMeansOptions options;
  options.num_clusters = k;
  options.seed = seed;
  options.num_threads = run.options().num_threads;
  KMeansInput input;
  input.points = points;
  return fit_kmeans(input, options, run.monitor()).labels;
}

std::vector<int> ncut_labels(const ReproduceRun& run, FloatView points, int k, uint64_t seed,
                             int num_neighbors) {
  NcutOptions options;
  options.num_clusters = k;
  options.num_neighbors = num_neighbors;
  options.seed = seed;
  options.num_threads = run.options().num_threads;
  return fit_ncut({points}, options, run.monitor()).labels;
}

Matrix<float> group_means(FloatView points, const ContextGroups& groups) {
  Matrix<float> means(groups.num_groups(), points.cols());
  for (int64_t g = 0; g < groups.num_groups(); ++g)
    for (const int i : groups.members_of(g))
      for (int64_t t = 0; t < points.cols(); ++t)
        means(g, t) += points(i, t) / static_cast<float>(groups.size_of(g));
  return means;
}

void SeedFigures::add(const std::function<std::vector<int>(uint64_t seed)>& labels_of) {
  const int seeds = run_.num_runs(kCacSeeds);
  double error = 0;
  const double begin = cpu_seconds();
  for (int s = 0; s < seeds && !run_.is_stopped(); ++s) {
    const uint64_t seed = run_.options().seed + static_cast<uint64_t>(s);
    error += compute_metrics(labels_of(seed), classes_).error / seeds;
  }
  values_.push_back(error);
  values_.push_back((cpu_seconds() - begin) / seeds);
}

}  // namespace milieu::cli

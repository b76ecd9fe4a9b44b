// SPDX-License-Identifier: Apache-2.0
// Learning to cluster as one model of the general trainer (crf/train.h), and by the special code
// that comes with it (exemplar/learn/learn.h). Samples lie in groups in two of five coordinates;
// the other three are noise. Ends with 1 when the two do not agree, or do not find the coordinates.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/exemplar/learn/cluster_graph.h"
#include "milieu/exemplar/learn/learn.h"

using namespace milieu;

namespace {

constexpr int kSamples = 24, kColumns = 5, kClusters = 3;

Matrix<float> draw_samples(uint64_t seed) {
  Random random(seed);
  Matrix<float> points(kSamples, kColumns);
  for (int p = 0; p < kSamples; ++p)
    for (int t = 0; t < kColumns; ++t) {
      const double center = t == 0   ? 3 * (p % kClusters == 0)
                            : t == 1 ? 3 * (p % kClusters == 1)
                                     : 0;
      points(p, t) = static_cast<float>(center + (t < 2 ? 0.4 : 1.5) * random.normal());
    }
  return points;
}

}  // namespace

int main() {
  std::vector<int> labels;
  for (int p = 0; p < kSamples; ++p) labels.push_back(p % kClusters);
  const Matrix<float> first = draw_samples(1), second = draw_samples(2);

  // The general trainer on graphs.
  ClusterGraphOptions graph;
  graph.penalty = 4;  // half of a cluster of 8
  const auto a = make_cluster_graph_example(first, labels, graph);
  const auto b = make_cluster_graph_example(second, labels, graph);
  CrfTrainInput input;
  input.examples = {a.get(), b.get()};
  input.start.assign(kColumns, 0.2);
  CrfTrainOptions train;
  train.max_iterations = 150;
  train.dual_step = 0.5;  // two-label duals move both ways
  const CrfTrainResult general = train_latent_crf(input, train);

  // The same by closed forms. It starts at its own weights and stops at the same optimum.
  ExemplarLearnOptions options;
  options.penalty = graph.penalty;
  options.normalize = false;
  options.train.max_iterations = 150;
  const ExemplarLearnResult special =
      learn_exemplar_distance({{{first, labels}, {second, labels}}}, options);

  std::printf("coordinate  by the framework  by exemplar/learn/learn.h\n");
  for (int t = 0; t < kColumns; ++t)
    std::printf("%10d  %16.3f  %19.3f\n", t, general.weights[t], special.model.weights[t]);
  double framework = 1e9, closed = 1e9;  // the least: single rounds go up and down
  for (const CrfRound& round : general.rounds) framework = std::min(framework, round.objective);
  for (const CrfRound& round : special.rounds) closed = std::min(closed, round.objective);
  std::printf("objective   %16.4f  %19.4f\n", framework, closed);
  double signal = 1e9, noise = 0;
  for (int t = 0; t < kColumns; ++t)
    (t < 2 ? signal : noise) =
        t < 2 ? std::min(signal, general.weights[t]) : std::max(noise, general.weights[t]);
  return std::abs(framework - closed) < 0.05 * closed && signal > 3 * noise ? 0 : 1;
}

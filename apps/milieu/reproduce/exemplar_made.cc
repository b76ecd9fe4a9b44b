// SPDX-License-Identifier: Apache-2.0
#include "reproduce/exemplar_made.h"

#include "milieu/base/random.h"

namespace milieu::cli {

namespace {

constexpr double kGoodSpread = 0.5, kNoisySpread = 5;

}  // namespace

MadeSet draw_made(const MadeSetting& s, uint64_t index) {
  Random random = Random(s.seed).child(index);
  Matrix<double> centers(s.num_clusters, s.num_columns);
  for (int64_t i = 0; i < centers.size(); ++i) centers.data()[i] = random.normal();
  MadeSet set{Matrix<float>(s.num_samples, s.num_columns), {}};
  for (int p = 0; p < s.num_samples; ++p) {
    // The first M samples are one of each cluster, so that none is empty.
    const int c = p < s.num_clusters ? p : static_cast<int>(random.uniform_index(s.num_clusters));
    set.labels.push_back(c);
    for (int t = 0; t < s.num_columns; ++t)
      set.points(p, t) = static_cast<float>(
          centers(c, t) + (t < s.num_good() ? kGoodSpread : kNoisySpread) * random.normal());
  }
  return set;
}

ExemplarLearnResult train_made(const MadeSetting& s, ReproduceRun& run,
                               ExemplarLearnOptions options) {
  std::vector<MadeSet> sets;
  LearnInput input;
  for (int k = 0; k < kMadeSets; ++k) sets.push_back(draw_made(s, static_cast<uint64_t>(k)));
  for (const MadeSet& set : sets) input.sets.push_back({set.points, set.labels});
  options.normalize = s.normalize;
  options.train.max_iterations = s.rounds;
  options.train.num_threads = run.options().num_threads;
  return learn_exemplar_distance(input, options, run.monitor());
}

}  // namespace milieu::cli

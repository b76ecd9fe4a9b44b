// SPDX-License-Identifier: Apache-2.0
// Symbols: x_p,t = mean of f_pr,t over samples r of other clusters less its mean over samples q of
// p's own; score_t = mean over p of x_p,t, in its standard errors.
// Conventions: pairs are drawn, kDraws of each kind per sample; samples alone in their cluster are
// left out. Samples share few pairs, so that they count as independent.
#include <algorithm>
#include <cmath>

#include "milieu/base/random.h"
#include "milieu/exemplar/learn/learn_internal.h"

namespace milieu::internal {

namespace {

constexpr int kDraws = 16;
constexpr int64_t kMinSamples = 100;  // with fewer the test is inconclusive

// Sums over samples.
struct Moments {
  explicit Moments(int64_t num_features) : first(num_features, 0.0), second(num_features, 0.0) {}
  double count = 0;
  std::vector<double> first, second;
};

void add_set(const PairFeatures& features, const std::vector<int>& labels, Random& random,
             Moments& moments) {
  const int64_t n = static_cast<int64_t>(labels.size());
  std::vector<std::vector<int64_t>> members;
  for (int64_t p = 0; p < n; ++p) {
    members.resize(std::max<size_t>(members.size(), labels[p] + 1));
    members[labels[p]].push_back(p);
  }
  std::vector<double> x(features.num_features());
  for (int64_t p = 0; p < n; ++p) {
    const std::vector<int64_t>& own = members[labels[p]];
    if (own.size() == 1) continue;
    std::fill(x.begin(), x.end(), 0.0);
    for (int i = 0; i < kDraws; ++i) {
      int64_t q = p, r = p;
      while (q == p) q = own[random.uniform_index(std::ssize(own))];
      while (labels[r] == labels[p]) r = random.uniform_index(n);
      features.add_pair(p, q, -1.0 / kDraws, x);
      features.add_pair(p, r, 1.0 / kDraws, x);
    }
    ++moments.count;
    for (size_t t = 0; t < x.size(); ++t) {
      moments.first[t] += x[t];
      moments.second[t] += x[t] * x[t];
    }
  }
}

}  // namespace

std::vector<char> screen_features(const std::vector<std::shared_ptr<PairFeatures>>& features,
                                  const std::vector<LearnSet>& sets, double least_score,
                                  uint64_t seed) {
  const int64_t num_features = features[0]->num_features();
  std::vector<char> is_kept(num_features, 1);
  int64_t samples = 0;
  for (const LearnSet& set : sets) samples += std::ssize(set.labels);
  if (least_score == 0 || samples < kMinSamples) return is_kept;
  Random random(seed);
  Moments moments(num_features);
  for (size_t k = 0; k < sets.size(); ++k) add_set(*features[k], sets[k].labels, random, moments);
  for (int64_t t = 0; t < num_features; ++t) {
    const double mean = moments.first[t] / moments.count;
    const double variance = moments.second[t] / moments.count - mean * mean;
    is_kept[t] = mean > least_score * std::sqrt(std::max(variance, 0.0) / moments.count);
  }
  return is_kept;
}

}  // namespace milieu::internal

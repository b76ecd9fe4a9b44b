// SPDX-License-Identifier: Apache-2.0
// Evidence of groups, and phrases by shares: the definition. cac_shares.cc finds the phrases.
//
// Given    samples i with features x_i (views side by side, in the units of J1) and one fine word
//          per view; groups g of samples with weights
// Find     a phrase for every group
// Method   e_i = (one-hot fine words, x_i) for every sample. A round: y_g = mean of e_i over the
//          members of g. Before each further round: e_i = mean of y_g over the groups that hold i.
//          Of the words' part the square roots are taken (Euclidean distances are then those of
//          Hellinger between histograms), both parts are scaled to unit total variance, and k-means
//          on the rows y_g finds the phrases.
// Why      sums over members, as J2 has them, let large groups decide where the phrases are; means
//          do not. A sample and its neighbours count together, and rounds let evidence travel
//          farther than one group without making groups larger.
#include "milieu/cac/cac_evidence_internal.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/parallel.h"
#include "milieu/classic/kmeans/kmeans.h"

namespace milieu::internal {
namespace {

constexpr int64_t kRowBlock = 128;

int64_t num_features(std::span<const FloatView> views) {
  int64_t d = 0;
  for (const FloatView& view : views) d += view.cols();
  return d;
}

// e_i of all samples: one-hot fine words, then scaled features around their mean.
Matrix<float> evidence_of_samples(const CacEvidence& evidence, std::span<const FloatView> views,
                                  std::span<const double> scales, int num_threads) {
  const int64_t n = views[0].rows();
  const int64_t num_words = evidence.lexicon.rows();
  Matrix<float> rows(n, num_words + num_features(views));
  int64_t word = 0, column = num_words;
  for (size_t v = 0; v < views.size(); ++v) {
    const int64_t d = views[v].cols();
    if (num_words > 0) {
      KMeansModel words{Matrix<float>(evidence.lexicon_words[v], d)};
      for (int64_t m = 0; m < words.centers.rows(); ++m)
        std::copy_n(evidence.lexicon.row(word + m), d, words.centers.row(m));
      const std::vector<int> labels = predict(words, views[v], num_threads);
      for (int64_t i = 0; i < n; ++i) rows(i, word + labels[i]) = 1;
      word += words.centers.rows();
    }
    const double factor = std::sqrt(scales[v]);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t t = 0; t < d; ++t)
        rows(i, column + t) = static_cast<float>(factor * (static_cast<double>(views[v](i, t)) -
                                                           evidence.means[column - num_words + t]));
    column += d;
  }
  return rows;
}

// Row g: the weighted mean of the rows of its members; a group without any keeps zeros, or its own
// row of `kept`. Weights are those of the members times `weight_of(member)`.
template <class WeightOf>
Matrix<float> mean_rows(const ContextGroups& groups, const Matrix<float>& rows,
                        const Matrix<float>* kept, const WeightOf& weight_of, int num_threads,
                        const Monitor& monitor) {
  Matrix<float> means(groups.num_groups(), rows.cols());
  parallel_for(groups.num_groups(), kRowBlock, num_threads, [&](const Block& block) {
    if (monitor.should_stop()) return;
    std::vector<double> sum(static_cast<size_t>(rows.cols()));
    for (int64_t g = block.begin; g < block.end; ++g) {
      std::fill(sum.begin(), sum.end(), 0.0);
      double total = 0;
      for (int64_t e = groups.offsets[g]; e < groups.offsets[g + 1]; ++e) {
        const double weight = groups.member_weight(e) * weight_of(groups.members[e]);
        const float* row = rows.row(groups.members[e]);
        for (size_t t = 0; t < sum.size(); ++t) sum[t] += weight * row[t];
        total += weight;
      }
      float* out = means.row(g);
      if (total > 0)
        for (size_t t = 0; t < sum.size(); ++t) out[t] = static_cast<float>(sum[t] / total);
      else if (kept)
        std::copy_n(kept->row(g), rows.cols(), out);
    }
  });
  return means;
}

}  // namespace

void scale_columns(Matrix<float>& rows, int64_t first, int64_t last, double factor) {
  for (int64_t i = 0; i < rows.rows(); ++i)
    for (int64_t t = first; t < last; ++t) rows(i, t) = static_cast<float>(rows(i, t) * factor);
}

ContextGroups evidence_groups(const CacProblem& problem, const ContextGroups& around,
                              bool has_given_groups) {
  if (around.num_groups() > 0 && !has_given_groups) return around;
  return view_groups(problem.views[0].size(), 1, around);
}

Matrix<float> gather_evidence(const CacEvidence& evidence, std::span<const FloatView> views,
                              std::span<const double> scales, const ContextGroups& groups,
                              int num_threads, const Monitor& monitor) {
  Matrix<float> samples = evidence_of_samples(evidence, views, scales, num_threads);
  if (evidence.rounds() == 0) return samples;
  const auto one = [](int) { return 1.0; };
  Matrix<float> rows = mean_rows(groups, samples, nullptr, one, num_threads, monitor);
  const ContextGroups groups_of = transpose(groups);
  for (int round = 1; round < evidence.rounds(); ++round) {
    if (monitor.should_stop()) return {};
    samples = mean_rows(
        groups_of, rows, &samples, [&](int g) { return groups.group_weight(g); }, num_threads,
        monitor);
    rows = mean_rows(groups, samples, nullptr, one, num_threads, monitor);
  }
  if (monitor.should_stop()) return {};
  const int64_t words = evidence.lexicon.rows();
  for (int64_t i = 0; i < rows.rows(); ++i)
    for (int64_t m = 0; m < words; ++m) rows(i, m) = std::sqrt(rows(i, m));
  scale_columns(rows, 0, words, evidence.word_factor());
  scale_columns(rows, words, rows.cols(), evidence.feature_factor());
  return rows;
}

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/counts/jsom_start_internal.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "milieu/classic/counts/counts_internal.h"
#include "milieu/classic/kmeans/kmeans.h"

namespace milieu::internal {

namespace {

constexpr double kOwnShare = 0.3;        // of a word's patches that go to the topic of its group
constexpr double kFirstPrecision = 100;  // sum of a cluster's first prior

std::vector<int> cluster_roots(FloatView counts, int num_clusters, int num_restarts, uint64_t seed,
                               int num_threads, Monitor& monitor) {
  KMeansOptions options;
  options.num_clusters = num_clusters;
  options.num_restarts = num_restarts;
  options.seed = seed;
  options.num_threads = num_threads;
  Monitor stop_only(monitor);
  const Matrix<float> roots = root_frequencies(counts);
  std::vector<int> labels = fit_kmeans({roots.view(), {}, {}}, options, stop_only).labels;
  for (int& label : labels) label = std::max(label, 0);  // a stopped k-means may leave -1
  return labels;
}

Matrix<float> transposed(FloatView counts) {
  Matrix<float> words(counts.cols(), counts.rows());
  for (int64_t d = 0; d < counts.rows(); ++d)
    for (int64_t v = 0; v < counts.cols(); ++v) words(v, d) = counts(d, v);
  return words;
}

// K x V: lambda. Topics beyond the number of words share theirs.
Matrix<double> first_topics(FloatView counts, const JsomOptions& options,
                            const std::vector<int>& groups, Random& random) {
  std::vector<double> totals(counts.cols(), 0.0);
  for (int64_t d = 0; d < counts.rows(); ++d)
    for (int64_t v = 0; v < counts.cols(); ++v) totals[v] += static_cast<double>(counts(d, v));
  const int num_groups = 1 + *std::max_element(groups.begin(), groups.end());
  Matrix<double> words(options.num_topics, counts.cols());
  for (int64_t k = 0; k < words.rows(); ++k)
    for (int64_t v = 0; v < words.cols(); ++v) {
      const double own = groups[v] == k % num_groups ? kOwnShare : 0;
      const double rest = (1 - kOwnShare) / options.num_topics * (0.5 + random.uniform());
      words(k, v) = options.word_prior + totals[v] * (own + rest);
    }
  return words;
}

// n x K: patches of each row in each topic, a word's by the topics' shares of it. A stop leaves
// zeros.
Matrix<double> topic_counts(FloatView counts, const Matrix<double>& words, const Monitor& monitor) {
  std::vector<double> sums(words.cols(), 0.0);
  for (int64_t k = 0; k < words.rows(); ++k)
    for (int64_t v = 0; v < words.cols(); ++v) sums[v] += words(k, v);
  Matrix<double> in_topics(counts.rows(), words.rows());
  for (int64_t d = 0; d < counts.rows() && !monitor.should_stop(); ++d)
    for (int64_t v = 0; v < counts.cols(); ++v) {
      if (counts(d, v) <= 0) continue;
      const double factor = static_cast<double>(counts(d, v)) / sums[v];
      for (int64_t k = 0; k < words.rows(); ++k) in_topics(d, k) += factor * words(k, v);
    }
  return in_topics;
}

// weights, priors, zeta and gamma of rows that are in these clusters.
void start_clusters(const Matrix<double>& in_topics, const std::vector<int>& labels,
                    const JsomOptions& options, JsomState& state) {
  const int64_t num_topics = in_topics.cols();
  JsomModel& model = state.model;
  model.weights.assign(options.num_clusters, 0.0);
  model.priors = Matrix<double>(options.num_clusters, num_topics);
  std::fill_n(model.priors.data(), model.priors.size(), 1.0);
  state.zeta = Matrix<double>(in_topics.rows(), options.num_clusters);
  for (int64_t d = 0; d < in_topics.rows(); ++d) {
    const int j = labels[d];
    state.zeta(d, j) = 1;
    model.weights[j] += 1.0 / static_cast<double>(in_topics.rows());
    for (int64_t k = 0; k < num_topics; ++k) model.priors(j, k) += in_topics(d, k);
  }
  for (int64_t j = 0; j < options.num_clusters; ++j) {
    const std::span<double> prior = model.priors.row_span(j);
    const double scale = kFirstPrecision / std::accumulate(prior.begin(), prior.end(), 0.0);
    for (double& a : prior) a *= scale;
  }
  state.gamma = in_topics;
  for (int64_t d = 0; d < in_topics.rows(); ++d)
    for (int64_t k = 0; k < num_topics; ++k) state.gamma(d, k) += model.priors(labels[d], k);
}

}  // namespace

std::vector<int> group_words(FloatView counts, const JsomOptions& options, uint64_t seed,
                             Monitor& monitor) {
  if (counts.cols() > options.num_topics)
    return cluster_roots(transposed(counts), options.num_topics, 1, seed, options.num_threads,
                         monitor);
  std::vector<int> groups(counts.cols());
  std::iota(groups.begin(), groups.end(), 0);
  return groups;
}

JsomState start_jsom(FloatView counts, const JsomOptions& options, Random& random,
                     Monitor& monitor) {
  constexpr int kStarts = 5;
  const uint64_t seed = random.next_bits() >> 2;
  JsomState state;
  state.model.words =
      first_topics(counts, options, group_words(counts, options, seed, monitor), random);
  const std::vector<int> labels =
      cluster_roots(counts, options.num_clusters, kStarts, seed, options.num_threads, monitor);
  start_clusters(topic_counts(counts, state.model.words, monitor), labels, options, state);
  return state;
}

}  // namespace milieu::internal

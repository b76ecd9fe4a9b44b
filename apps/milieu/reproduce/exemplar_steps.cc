// SPDX-License-Identifier: Apache-2.0
#include "reproduce/exemplar_steps.h"

#include <algorithm>

#include "milieu/exemplar/search/exemplar.h"
#include "milieu/metrics/metrics.h"

namespace milieu::cli {

std::vector<Matrix<float>> all_distances(const std::vector<CandidateDistance>& candidates,
                                         FloatView a, FloatView b) {
  std::vector<Matrix<float>> all;
  for (const CandidateDistance& c : candidates) {
    all.emplace_back(a.rows(), b.rows());
    const FloatView x(a.data() + c.first_column, a.rows(), c.num_columns, a.stride());
    const FloatView y(b.data() + c.first_column, b.rows(), c.num_columns, b.stride());
    pair_distances(c.distance, x, y, all.back(), c.gamma);
  }
  return all;
}

Matrix<float> weighted_sum(const std::vector<Matrix<float>>& all, const std::vector<double>& w) {
  Matrix<float> sum(all[0].rows(), all[0].cols());
  for (size_t t = 0; t < all.size(); ++t)
    for (int64_t i = 0; w[t] != 0 && i < sum.size(); ++i)
      sum.data()[i] += static_cast<float>(w[t]) * all[t].data()[i];
  return sum;
}

double nearest_accuracy(const Matrix<float>& distances, const std::vector<int>& rows,
                        const std::vector<int>& columns) {
  double right = 0;
  for (int64_t i = 0; i < distances.rows(); ++i) {
    const auto row = distances.row_span(i);
    const auto nearest = std::min_element(row.begin(), row.end()) - row.begin();
    right += rows[static_cast<size_t>(i)] == columns[static_cast<size_t>(nearest)];
  }
  return right / static_cast<double>(distances.rows());
}

Found cluster_exemplars(const Matrix<float>& costs, const std::vector<int>& truth, double penalty,
                        int num_clusters, ReproduceRun& run) {
  ExemplarInput input;
  input.costs = costs;
  ExemplarOptions options;
  options.distance = Distance::Precomputed;
  options.rel_gap = 1e-3;
  options.num_clusters = num_clusters;
  if (num_clusters == 0) options.penalty = to_text(FieldValue(penalty));
  options.num_threads = run.options().num_threads;
  const ExemplarResult result = fit_exemplar(input, options, run.monitor());
  const Metrics m = compute_metrics(result.labels, truth);
  return {m.accuracy, m.f, static_cast<double>(m.num_clusters), result.model.rows};
}

}  // namespace milieu::cli

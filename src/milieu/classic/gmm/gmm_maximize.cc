// SPDX-License-Identifier: Apache-2.0
// The M-step.
#include <algorithm>
#include <numeric>

#include "milieu/base/parallel.h"
#include "milieu/classic/gmm/gmm_covariance_internal.h"
#include "milieu/classic/gmm/gmm_steps.h"

namespace milieu::internal {

namespace {

// Order of the padded matrices in the statistics of full covariances.
int64_t padded_order(const GmmStats& stats) {
  const int64_t d = stats.first.cols();
  return d * d == stats.second.cols() ? d : d + 1;
}

// N_c S_c about the new mean, added to `scatter` (d x d): second moments about the old mean less
// those of the shift between the two.
void add_scatter(const GmmStats& stats, int64_t c, MatrixView<double> scatter) {
  const int64_t order = padded_order(stats);
  const double* second = stats.second.row(c);
  for (int64_t i = 0; i < scatter.rows(); ++i)
    for (int64_t j = 0; j <= i; ++j) {
      const double value =
          second[i * order + j] - stats.first(c, i) * stats.first(c, j) / stats.counts[c];
      scatter(i, j) += value;
      if (i != j) scatter(j, i) += value;
    }
}

void scale(MatrixView<double> matrix, double factor) {
  for (int64_t i = 0; i < matrix.rows(); ++i)
    for (double& value : matrix.row_span(i)) value *= factor;
}

// Variances of one component about its new mean; may be a rounding error below 0.
void set_variances(const GmmStats& stats, int64_t c, MatrixView<double> covariances) {
  const int64_t d = stats.first.cols();
  const bool is_spherical = covariances.cols() == 1;
  if (is_spherical) covariances(c, 0) = 0;
  for (int64_t j = 0; j < d; ++j) {
    const double shift = stats.first(c, j) / stats.counts[c];
    const double variance = stats.second(c, j) / stats.counts[c] - shift * shift;
    if (is_spherical) {
      covariances(c, 0) += variance / static_cast<double>(d);
    } else {
      covariances(c, j) = variance;
    }
  }
}

void set_covariances(const std::vector<bool>& is_alive, const GmmStats& stats, GmmModel& model) {
  const int64_t k = model.means.rows();
  const int64_t d = model.means.cols();
  if (model.covariance == GmmCovariance::Tied)
    std::fill_n(model.covariances.data(), model.covariances.size(), 0.0);
  double tied_count = 0;
  for (int64_t c = 0; c < k; ++c) {
    if (!is_alive[c]) continue;
    switch (model.covariance) {
      case GmmCovariance::Spherical:
      case GmmCovariance::Diagonal:
        set_variances(stats, c, model.covariances);
        break;
      case GmmCovariance::Full: {
        const MatrixView<double> own(model.covariances.row(c), d, d);
        scale(own, 0);
        add_scatter(stats, c, own);
        scale(own, 1 / stats.counts[c]);
        break;
      }
      case GmmCovariance::Tied:
        add_scatter(stats, c, {model.covariances.row(0), d, d});
        tied_count += stats.counts[c];
        break;
    }
  }
  if (model.covariance == GmmCovariance::Tied)
    scale({model.covariances.row(0), d, d}, 1 / tied_count);
}

}  // namespace

void apply_floors(const GmmProblem& problem, GmmModel& model) {
  const int64_t d = model.means.cols();
  const std::vector<double>& floors = problem.floors;
  const double mean_floor =
      std::accumulate(floors.begin(), floors.end(), 0.0) / static_cast<double>(d);
  parallel_for(model.covariances.rows(), 1, problem.num_threads, [&](const Block& block) {
    double* own = model.covariances.row(block.begin);
    if (has_full_matrices(model.covariance)) {
      raise_to_floor({own, d, d}, floors);
    } else if (model.covariance == GmmCovariance::Spherical) {
      own[0] = std::max(own[0], mean_floor);
    } else {
      for (int64_t j = 0; j < d; ++j) own[j] = std::max(own[j], floors[j]);
    }
  });
}

GmmModel maximize(const GmmProblem& problem, const GmmModel& previous, const GmmStats& stats) {
  GmmModel model = previous;
  const int64_t k = model.means.rows();
  const double mean_weight = problem.total_weight / static_cast<double>(problem.rows.size());
  std::vector<bool> is_alive(k);
  double alive_count = 0;
  for (int64_t c = 0; c < k; ++c) {
    is_alive[c] = stats.counts[c] >= kGmmEmptyCount * mean_weight;
    if (is_alive[c]) alive_count += stats.counts[c];
  }
  for (int64_t c = 0; c < k; ++c) {
    model.weights[c] = is_alive[c] ? stats.counts[c] / alive_count : 0;
    if (!is_alive[c]) continue;
    for (int64_t j = 0; j < model.means.cols(); ++j)
      model.means(c, j) += stats.first(c, j) / stats.counts[c];
  }
  set_covariances(is_alive, stats, model);
  apply_floors(problem, model);
  return model;
}

}  // namespace milieu::internal

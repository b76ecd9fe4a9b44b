// SPDX-License-Identifier: Apache-2.0
// The E-step: tiles of samples are scored, shared out and added to the statistics.
#include "milieu/classic/gmm/gmm_steps.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "milieu/base/assert.h"
#include "milieu/base/parallel.h"
#include "milieu/classic/gmm/gmm_loops.h"

namespace milieu::internal {

namespace {

static_assert(GmmInput::kBlockRows % kGmmTileRows == 0);

int64_t padded_lines(int64_t d) {
  return (d + kGmmLinePadding - 1) / kGmmLinePadding * kGmmLinePadding;
}

std::span<const double> weights_between(std::span<const double> weights, int64_t begin,
                                        int64_t end) {
  return weights.empty() ? weights : weights.subspan(begin, end - begin);
}

}  // namespace

GmmTile::GmmTile(int64_t num_clusters, int64_t num_features, GmmCovariance covariance)
    : points_(num_features, kGmmTileStride),
      scores_(num_clusters, kGmmTileStride),
      differences_(has_full_matrices(covariance) ? padded_lines(num_features) : 0, kGmmTileStride),
      shared_(has_full_matrices(covariance) ? padded_lines(num_features) : 0, kGmmTileStride),
      weights_(1, kGmmTileStride),
      log_sums_(1, kGmmTileStride),
      labels_(kGmmTileRows) {}

void GmmTile::load(FloatView points, std::span<const double> weights) {
  MILIEU_ASSERT(points.rows() <= kGmmTileRows && points.cols() == points_.rows());
  rows_ = points.rows();
  MILIEU_SELECT_ISA(gmm_load_tile)
  (points.data(), points.stride(), rows_, points.cols(), points_.data());
  double* weight = weights_.data();
  if (weights.empty()) {
    std::fill_n(weight, rows_, 1.0);
  } else {
    std::copy(weights.begin(), weights.end(), weight);
  }
  std::fill(weight + rows_, weight + kGmmTileRows, 0.0);
}

void GmmTile::score(const GmmScorer& scorer) {
  const int64_t d = scorer.num_features();
  const int64_t k = scorer.num_clusters();
  if (!has_full_matrices(scorer.covariance)) {
    MILIEU_SELECT_ISA(gmm_score_diagonal)
    (points_.data(), d, k, scorer.means.data(), scorer.inverse_std.data(), scorer.constants.data(),
     scores_.data());
    return;
  }
  const auto subtract = MILIEU_SELECT_ISA(gmm_subtract);
  const auto score_full = MILIEU_SELECT_ISA(gmm_score_full);
  for (int64_t c = 0; c < k; ++c) {
    subtract(points_.data(), d, scorer.means.row(c), differences_.data());
    score_full(differences_.data(), d, scorer.whitening_of(c).data(), scorer.constants[c],
               scores_.row(c));
  }
}

void GmmTile::normalize() {
  MILIEU_SELECT_ISA(gmm_softmax)
  (scores_.data(), scores_.rows(), weights_.data(), log_sums_.data(), labels_.data());
}

void GmmTile::harden() {
  std::fill_n(scores_.data(), scores_.size(), 0.0);
  for (int64_t s = 0; s < rows_; ++s) scores_(labels_[s], s) = weights_(0, s);
}

GmmStats::GmmStats(int64_t num_clusters, int64_t num_features, GmmCovariance covariance)
    : counts(num_clusters, 0),
      first(num_clusters, num_features),
      second(num_clusters, has_full_matrices(covariance)
                               ? padded_lines(num_features) * padded_lines(num_features)
                               : num_features) {}

void GmmStats::add(const GmmScorer& scorer, GmmTile& tile) {
  const int64_t d = scorer.num_features();
  const int64_t k = scorer.num_clusters();
  for (int64_t s = 0; s < tile.rows_; ++s)
    log_likelihood += tile.weights_(0, s) * tile.log_sums_(0, s);
  const auto sum_line = MILIEU_SELECT_ISA(gmm_sum_line);
  if (tile.shared_.empty()) {
    for (int64_t c = 0; c < k; ++c) counts[c] += sum_line(tile.scores_.row(c));
    MILIEU_SELECT_ISA(gmm_accumulate_diagonal)
    (tile.points_.data(), d, k, tile.scores_.data(), scorer.means.data(), first.data(),
     second.data());
    return;
  }
  const auto subtract = MILIEU_SELECT_ISA(gmm_subtract);
  const auto share = MILIEU_SELECT_ISA(gmm_share);
  const auto accumulate = MILIEU_SELECT_ISA(gmm_accumulate_full);
  for (int64_t c = 0; c < k; ++c) {
    const double count = sum_line(tile.scores_.row(c));
    if (count == 0) continue;  // no sample of this tile: common when components are far apart
    counts[c] += count;
    subtract(tile.points_.data(), d, scorer.means.row(c), tile.differences_.data());
    share(tile.differences_.data(), d, tile.scores_.row(c), tile.shared_.data());
    for (int64_t j = 0; j < d; ++j) first(c, j) += sum_line(tile.shared_.row(j));
    accumulate(tile.differences_.data(), tile.shared_.data(), tile.differences_.rows(),
               second.row(c));
  }
}

void GmmStats::merge(const GmmStats& other) {
  log_likelihood += other.log_likelihood;
  for (size_t c = 0; c < counts.size(); ++c) counts[c] += other.counts[c];
  for (int64_t i = 0; i < first.size(); ++i) first.data()[i] += other.first.data()[i];
  for (int64_t i = 0; i < second.size(); ++i) second.data()[i] += other.second.data()[i];
}

std::optional<GmmStats> run_expectation(const GmmProblem& problem, const GmmScorer& scorer,
                                        GmmSharing sharing, Monitor& monitor,
                                        std::span<int> labels) {
  const int64_t d = scorer.num_features();
  const int64_t k = scorer.num_clusters();
  const GmmStats zero(k, d, problem.covariance);
  std::atomic<bool> is_stopped = false;
  const auto accumulate = [&](const Block& block, GmmStats& part) {
    GmmTile tile(k, d, problem.covariance);
    for (int64_t begin = block.begin; begin < block.end; begin += kGmmTileRows) {
      if (is_stopped || monitor.should_stop()) {
        is_stopped = true;
        return;
      }
      const int64_t end = std::min(block.end, begin + kGmmTileRows);
      tile.load(problem.points.rows_between(begin, end),
                weights_between(problem.weights, begin, end));
      tile.score(scorer);
      tile.normalize();
      if (!labels.empty()) std::ranges::copy(tile.labels(), labels.begin() + begin);
      if (sharing == GmmSharing::Hard) tile.harden();
      part.add(scorer, tile);
    }
  };
  GmmStats stats =
      parallel_reduce(problem.rows, problem.num_threads, zero, accumulate,
                      [](GmmStats& total, const GmmStats& part) { total.merge(part); });
  if (problem.rows.any(is_stopped)) return std::nullopt;
  return stats;
}

}  // namespace milieu::internal

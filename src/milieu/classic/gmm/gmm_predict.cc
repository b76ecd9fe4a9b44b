// SPDX-License-Identifier: Apache-2.0
// Prediction of a Gaussian mixture: the scores of the E-step without its statistics, so that a
// training sample gets the label that the fit gave it, bit for bit.
#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/classic/gmm/gmm_loops.h"
#include "milieu/classic/gmm/gmm_steps.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {

namespace {

using namespace internal;

// Calls take(first row, tile) for every tile of the points, scored and normalised.
template <class Take>
void for_each_tile(const GmmModel& model, FloatView points, int num_threads, Take&& take) {
  const GmmScorer scorer = make_scorer(model);
  check_points(points);
  require(points.cols() == scorer.num_features(), [&] {
    return fmt::format("points has {}, the model {}: they must match",
                       counted(points.cols(), "column"), counted(scorer.num_features(), "feature"));
  });
  constexpr int64_t kBlockRows = 16 * kGmmTileRows;
  parallel_for(points.rows(), kBlockRows, num_threads, [&](const Block& block) {
    GmmTile tile(scorer.num_clusters(), scorer.num_features(), scorer.covariance);
    for (int64_t begin = block.begin; begin < block.end; begin += kGmmTileRows) {
      tile.load(points.rows_between(begin, std::min(block.end, begin + kGmmTileRows)), {});
      tile.score(scorer);
      tile.normalize();
      take(begin, std::as_const(tile));
    }
  });
}

}  // namespace

std::vector<int> predict(const GmmModel& model, FloatView points, int num_threads) {
  std::vector<int> labels(points.rows());
  for_each_tile(model, points, num_threads, [&](int64_t begin, const GmmTile& tile) {
    std::ranges::copy(tile.labels(), labels.begin() + begin);
  });
  return labels;
}

Matrix<double> predict_probabilities(const GmmModel& model, FloatView points, int num_threads) {
  Matrix<double> probabilities(points.rows(), model.means.rows());
  for_each_tile(model, points, num_threads, [&](int64_t begin, const GmmTile& tile) {
    for (int64_t s = 0; s < tile.rows(); ++s)
      for (int64_t c = 0; c < probabilities.cols(); ++c)
        probabilities(begin + s, c) = tile.share(c, s);
  });
  return probabilities;
}

std::vector<double> internal::label_samples(const GmmModel& model, FloatView points,
                                            int num_threads, std::span<int> labels) {
  std::vector<double> values(points.rows());
  for_each_tile(model, points, num_threads, [&](int64_t begin, const GmmTile& tile) {
    std::ranges::copy(tile.labels(), labels.begin() + begin);
    std::ranges::copy(tile.log_sums(), values.begin() + begin);
  });
  return values;
}

std::vector<double> log_densities(const GmmModel& model, FloatView points, int num_threads) {
  std::vector<double> values(points.rows());
  for_each_tile(model, points, num_threads, [&](int64_t begin, const GmmTile& tile) {
    std::ranges::copy(tile.log_sums(), values.begin() + begin);
  });
  return values;
}

}  // namespace milieu

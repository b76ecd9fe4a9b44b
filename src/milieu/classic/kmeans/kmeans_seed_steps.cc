// SPDX-License-Identifier: Apache-2.0
// k-means++ without a pass over the points for every centre. The potentials w D^2 are brought up to
// date only when the number of centres has doubled; in between they are too large for some points.
// A point is drawn in proportion to these old potentials and accepted with the probability
// (true potential) / (old potential): exactly the distribution that k-means++ asks for.
#include "milieu/classic/kmeans/kmeans_seed_steps.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "milieu/base/parallel.h"
#include "milieu/classic/kmeans/kmeans_assign_internal.h"
#include "milieu/linalg/distance.h"

namespace milieu::internal {
namespace {

constexpr int64_t kBlockRows = 1024;
constexpr int kMaxRejections = 50;  // in a row, before the potentials are brought up to date

int64_t first_positive(const KMeansProblem& problem) {
  for (int64_t i = 0; i < problem.points.rows(); ++i)
    if (problem.weight(i) > 0) return i;
  return 0;
}

// Draws points in proportion to w D^2.
class PotentialSampler {
 public:
  PotentialSampler(const KMeansProblem& problem, const Scaling& scaling, const Monitor& monitor)
      : problem_(problem),
        scaling_(scaling),
        monitor_(monitor),
        centers_(problem.num_clusters, problem.points.cols()),
        potentials_(problem.points.rows()),
        block_sums_(num_blocks(problem.points.rows(), kBlockRows)) {
    for (int64_t i = 0; i < problem.points.rows(); ++i) potentials_[i] = problem.weight(i);
    sum_blocks();
  }

  // A point, or -1 when all potentials are 0 or the monitor has stopped. The first centre is drawn
  // by weight alone.
  int64_t draw(Random& random) {
    for (int rejections = 0; !monitor_.should_stop(); ++rejections) {
      if (num_centers_ > 0 && (num_centers_ >= 2 * num_known_ || rejections > kMaxRejections)) {
        if (!refresh()) return -1;
        rejections = 0;
      }
      const double total = std::accumulate(block_sums_.begin(), block_sums_.end(), 0.0);
      if (!(total > 0)) return -1;
      const int64_t i = draw_old(random, total);
      if (random.uniform() * potentials_[i] < true_potential(i)) return i;
    }
    return -1;
  }

  void add_center(int64_t point) {
    std::ranges::copy(problem_.row(point, buffer_), centers_.row(num_centers_++));
  }

  Matrix<float> take_centers() { return std::move(centers_); }

 private:
  int64_t draw_old(Random& random, double total) const {
    double left = random.uniform() * total;
    size_t block = 0;
    while (block + 1 < block_sums_.size() && left >= block_sums_[block])
      left -= block_sums_[block++];
    const int64_t begin = static_cast<int64_t>(block) * kBlockRows;
    const int64_t end = std::min<int64_t>(begin + kBlockRows, problem_.points.rows());
    int64_t last_positive = begin;
    for (int64_t i = begin; i < end; ++i) {
      if (potentials_[i] <= 0) continue;
      last_positive = i;
      left -= potentials_[i];
      if (left < 0) break;
    }
    return last_positive;
  }

  double true_potential(int64_t i) {
    double potential = potentials_[i];
    if (num_known_ == num_centers_) return potential;
    const std::span<const float> x = problem_.row(i, buffer_);
    for (int64_t j = num_known_; j < num_centers_; ++j)
      potential =
          std::min(potential, problem_.weight(i) * squared_distance(x, centers_.row_span(j)));
    return potential;
  }

  // Accounts for the centres added since the last time.
  bool refresh() {
    const FloatView added = centers_.view().rows_between(num_known_, num_centers_);
    std::vector<int> labels(problem_.points.rows());
    NearestCenters nearest(problem_.points, scaling_, problem_.num_threads, problem_.scales);
    if (!nearest.assign(added, monitor_, labels)) return false;
    const bool is_first = num_known_ == 0;
    parallel_for(problem_.points.rows(), kBlockRows, problem_.num_threads, [&](const Block& block) {
      std::vector<float> buffer;
      for (int64_t i = block.begin; i < block.end; ++i) {
        const double potential = problem_.weight(i) * squared_distance(problem_.row(i, buffer),
                                                                       added.row_span(labels[i]));
        potentials_[i] = is_first ? potential : std::min(potentials_[i], potential);
      }
    });
    num_known_ = num_centers_;
    sum_blocks();
    return true;
  }

  void sum_blocks() {
    parallel_for(problem_.points.rows(), kBlockRows, problem_.num_threads, [&](const Block& block) {
      block_sums_[block.index] =
          std::accumulate(potentials_.begin() + block.begin, potentials_.begin() + block.end, 0.0);
    });
  }

  const KMeansProblem& problem_;
  const Scaling& scaling_;
  const Monitor& monitor_;
  Matrix<float> centers_;
  int64_t num_centers_ = 0;
  int64_t num_known_ = 0;  // centres that the potentials account for
  std::vector<double> potentials_;
  std::vector<double> block_sums_;
  std::vector<float> buffer_;
};

// Compares candidates by the sum of potentials that each would leave. Potentials are scaled floats
// here: they only rank candidates.
class CandidateJudge {
 public:
  CandidateJudge(const KMeansProblem& problem, const Scaling& scaling, Random random)
      : problem_(problem), factor_(scaling.factor) {
    const int64_t n = problem.points.rows();
    std::vector<int64_t> sample = random.sample_without_replacement(n, std::min(n, kSeedSample));
    std::sort(sample.begin(), sample.end());
    points_ = Matrix<float>(static_cast<int64_t>(sample.size()), problem.points.cols());
    std::vector<float> buffer;
    for (size_t s = 0; s < sample.size(); ++s) {
      std::ranges::copy(problem.row(sample[s], buffer), points_.row(static_cast<int64_t>(s)));
      weights_.push_back(problem.weight(sample[s]));
    }
    potentials_.assign(sample.size(), std::numeric_limits<double>::infinity());
  }

  // The best of the candidates becomes a centre.
  int64_t choose(std::span<const int64_t> candidates) {
    std::vector<std::vector<double>> left(candidates.size());
    std::vector<double> sums(candidates.size());
    parallel_for(static_cast<int64_t>(candidates.size()), 1, problem_.num_threads,
                 [&](const Block& block) {
                   std::vector<double>& potentials = left[block.index];
                   potentials = potentials_with(candidates[block.index]);
                   sums[block.index] = std::accumulate(potentials.begin(), potentials.end(), 0.0);
                 });
    const auto best = std::min_element(sums.begin(), sums.end()) - sums.begin();
    potentials_ = std::move(left[best]);
    return candidates[best];
  }

 private:
  std::vector<double> potentials_with(int64_t candidate) const {
    const auto distance = MILIEU_SELECT_ISA(scaled_squared_distance);
    std::vector<float> buffer;
    const float* center = problem_.row(candidate, buffer).data();
    std::vector<double> potentials = potentials_;
    for (int64_t s = 0; s < points_.rows(); ++s)
      potentials[s] = std::min(
          potentials[s], weights_[s] * distance(points_.row(s), center, factor_, points_.cols()));
    return potentials;
  }

  const KMeansProblem& problem_;
  float factor_;
  Matrix<float> points_;
  std::vector<double> weights_;
  std::vector<double> potentials_;
};

}  // namespace

Matrix<float> draw_random_centers(const KMeansProblem& problem, Random& random) {
  std::vector<int64_t> candidates;
  for (int64_t i = 0; i < problem.points.rows(); ++i)
    if (problem.weight(i) > 0) candidates.push_back(i);
  const int64_t k = problem.num_clusters;
  const int64_t available = std::min<int64_t>(k, static_cast<int64_t>(candidates.size()));
  const std::vector<int64_t> drawn =
      random.sample_without_replacement(static_cast<int64_t>(candidates.size()), available);
  Matrix<float> centers(k, problem.points.cols());
  std::vector<float> buffer;
  for (int64_t j = 0; j < k; ++j)
    std::ranges::copy(problem.row(candidates[j < available ? drawn[j] : 0], buffer),
                      centers.row(j));
  return centers;
}

Matrix<float> draw_plus_plus_centers(const KMeansProblem& problem, const Scaling& scaling,
                                     const Random& random, const Monitor& monitor) {
  Random draws = random.child(0);
  PotentialSampler sampler(problem, scaling, monitor);
  CandidateJudge judge(problem, scaling, random.child(1));
  const int num_trials = 2 + static_cast<int>(portable_log(problem.num_clusters));
  for (int j = 0; j < problem.num_clusters; ++j) {
    std::vector<int64_t> candidates;
    for (int trial = 0; trial < (j == 0 ? 1 : num_trials); ++trial) {
      const int64_t candidate = sampler.draw(draws);
      if (candidate < 0) break;
      candidates.push_back(candidate);
    }
    sampler.add_center(candidates.empty() ? first_positive(problem) : judge.choose(candidates));
  }
  return sampler.take_centers();
}

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// k-means++ without a pass over the points for every centre. The potentials w D^2 are brought up to
// date only when the number of centres has doubled; in between they are too large for some points.
// A point is drawn in proportion to these old potentials and accepted with the probability
// (true potential) / (old potential): exactly the distribution that k-means++ asks for.
#include "milieu/classic/kmeans/kmeans_seed_steps.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "milieu/base/assert.h"
#include "milieu/base/packing.h"
#include "milieu/base/parallel.h"
#include "milieu/base/row_choice.h"
#include "milieu/classic/kmeans/kmeans_assign_internal.h"
#include "milieu/linalg/distance.h"

namespace milieu::internal {
namespace {

constexpr int kMaxRejections = 50;  // in a row, before the potentials are brought up to date

// A point that may become a centre, known to every rank.
struct Candidate {
  int64_t point = -1;  // of all ranks; -1: none
  std::vector<float> row;
};

Candidate first_positive(const KMeansProblem& problem) {
  const std::function is_positive = [&](int64_t i) { return problem.weight(i) > 0; };
  const int64_t row = RowChoice(problem.rows, is_positive).rows_at({0}).at(0);
  return {row, problem.shared_row(row)};
}

// Draws points in proportion to w D^2.
class PotentialSampler {
 public:
  PotentialSampler(const KMeansProblem& problem, const Scaling& scaling, const Monitor& monitor)
      : problem_(problem),
        scaling_(scaling),
        monitor_(monitor),
        centers_(problem.num_clusters, problem.points.cols()),
        potentials_(problem.points.rows()) {
    for (int64_t i = 0; i < problem.points.rows(); ++i) potentials_[i] = problem.weight(i);
    sum_blocks();
  }

  // None when all potentials are 0 or the monitor has stopped. The first centre is drawn by weight
  // alone.
  Candidate draw(Random& random) {
    for (int rejections = 0; !problem_.rows.any(monitor_.should_stop()); ++rejections) {
      if (num_centers_ > 0 && (num_centers_ >= 2 * num_known_ || rejections > kMaxRejections)) {
        if (!refresh()) return {};
        rejections = 0;
      }
      const double total = std::accumulate(block_sums_.begin(), block_sums_.end(), 0.0);
      if (!(total > 0)) return {};
      const Drawn drawn = draw_old(random, total);
      if (drawn.is_accepted) return {drawn.point, problem_.shared_row(drawn.point)};
    }
    return {};
  }

  void add_center(const Candidate& candidate) {
    std::ranges::copy(candidate.row, centers_.row(num_centers_++));
  }

  Matrix<float> take_centers() { return std::move(centers_); }

 private:
  struct Drawn {
    int64_t point = 0;  // of all ranks
    bool is_accepted = false;
  };

  // A point in proportion to the old potentials. The sums of blocks say which block it is in; its
  // owner looks further.
  Drawn draw_old(Random& random, double total) {
    double left = random.uniform() * total;
    const double threshold = random.uniform();
    size_t block = 0;
    while (block + 1 < block_sums_.size() && left >= block_sums_[block])
      left -= block_sums_[block++];
    const int64_t first = static_cast<int64_t>(block) * problem_.rows.block_size();
    Drawn drawn;
    if (problem_.rows.owns(first)) {
      const int64_t i = draw_in_block(first - problem_.rows.begin(), left);
      drawn = {problem_.rows.begin() + i, threshold * potentials_[i] < true_potential(i)};
    }
    problem_.rows.share_from_owner(first, std::span(&drawn, 1));
    return drawn;
  }

  int64_t draw_in_block(int64_t begin, double left) const {
    const int64_t end =
        std::min<int64_t>(begin + problem_.rows.block_size(), problem_.points.rows());
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
    const bool is_stopped = !nearest.assign(added, monitor_, labels);
    if (problem_.rows.any(is_stopped)) return false;
    const bool is_first = num_known_ == 0;
    parallel_for(problem_.points.rows(), KMeansInput::kBlockRows, problem_.num_threads,
                 [&](const Block& block) {
                   std::vector<float> buffer;
                   for (int64_t i = block.begin; i < block.end; ++i) {
                     const double potential =
                         problem_.weight(i) *
                         squared_distance(problem_.row(i, buffer), added.row_span(labels[i]));
                     potentials_[i] = is_first ? potential : std::min(potentials_[i], potential);
                   }
                 });
    num_known_ = num_centers_;
    sum_blocks();
    return true;
  }

  void sum_blocks() {
    std::vector<double> own(num_blocks(problem_.points.rows(), problem_.rows.block_size()));
    parallel_for(problem_.points.rows(), problem_.rows.block_size(), problem_.num_threads,
                 [&](const Block& block) {
                   own[block.index] = std::accumulate(potentials_.begin() + block.begin,
                                                      potentials_.begin() + block.end, 0.0);
                 });
    block_sums_ = problem_.rows.gather<double>(own, problem_.rows.block_size());
  }

  const KMeansProblem& problem_;
  const Scaling& scaling_;
  const Monitor& monitor_;
  Matrix<float> centers_;
  int64_t num_centers_ = 0;
  int64_t num_known_ = 0;  // centres that the potentials account for
  std::vector<double> potentials_;
  std::vector<double> block_sums_;  // of all ranks
  std::vector<float> buffer_;
};

// Compares candidates by the sum of potentials that each would leave. Potentials are scaled floats
// here: they only rank candidates.
class CandidateJudge {
 public:
  CandidateJudge(const KMeansProblem& problem, const Scaling& scaling, Random random)
      : problem_(problem), factor_(scaling.factor) {
    const int64_t n = problem.rows.size();
    std::vector<int64_t> sample = random.sample_without_replacement(n, std::min(n, kSeedSample));
    std::sort(sample.begin(), sample.end());
    points_ = Matrix<float>(static_cast<int64_t>(sample.size()), problem.points.cols());
    load(sample);
    potentials_.assign(sample.size(), std::numeric_limits<double>::infinity());
  }

  // The best of the candidates becomes a centre.
  const Candidate& choose(std::span<const Candidate> candidates) {
    std::vector<std::vector<double>> left(candidates.size());
    std::vector<double> sums(candidates.size());
    parallel_for(static_cast<int64_t>(candidates.size()), 1, problem_.num_threads,
                 [&](const Block& block) {
                   std::vector<double>& potentials = left[block.index];
                   potentials = potentials_with(candidates[block.index].row);
                   sums[block.index] = std::accumulate(potentials.begin(), potentials.end(), 0.0);
                 });
    const auto best = std::min_element(sums.begin(), sums.end()) - sums.begin();
    potentials_ = std::move(left[best]);
    return candidates[best];
  }

 private:
  // Each rank loads its own points of the sample, which is sorted; then all have all.
  void load(std::span<const int64_t> sample) {
    const Rows& rows = problem_.rows;
    const int64_t d = problem_.points.cols();
    std::vector<float> values, buffer;
    std::vector<double> weights;
    for (const int64_t point : sample) {
      if (!rows.owns(point)) continue;
      const std::span<const float> row = problem_.row(point - rows.begin(), buffer);
      values.insert(values.end(), row.begin(), row.end());
      weights.push_back(problem_.weight(point - rows.begin()));
    }
    float* out = points_.data();
    for (const Message& message : rows.ranks().gather(pack(values))) {
      std::vector<float> part;
      unpack(message, part);
      out = std::ranges::copy(part, out).out;
    }
    MILIEU_ASSERT(out == points_.data() + static_cast<int64_t>(sample.size()) * d);
    for (const Message& message : rows.ranks().gather(pack(weights))) {
      std::vector<double> part;
      unpack(message, part);
      weights_.insert(weights_.end(), part.begin(), part.end());
    }
  }

  std::vector<double> potentials_with(std::span<const float> center) const {
    const auto distance = MILIEU_SELECT_ISA(scaled_squared_distance);
    std::vector<double> potentials = potentials_;
    for (int64_t s = 0; s < points_.rows(); ++s)
      potentials[s] = std::min(potentials[s], weights_[s] * distance(points_.row(s), center.data(),
                                                                     factor_, points_.cols()));
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
  const std::function is_positive = [&](int64_t i) { return problem.weight(i) > 0; };
  const RowChoice candidates(problem.rows, is_positive);
  const int64_t k = problem.num_clusters;
  std::vector<int64_t> drawn =
      random.sample_without_replacement(candidates.count(), std::min(k, candidates.count()));
  drawn.resize(k, 0);  // the first one where there are too few
  std::vector<int64_t> sorted = drawn;
  std::ranges::sort(sorted);
  const std::vector<int64_t> rows = candidates.rows_at(sorted);
  Matrix<float> centers(k, problem.points.cols());
  for (int64_t j = 0; j < k; ++j) {
    const int64_t place = std::ranges::lower_bound(sorted, drawn[j]) - sorted.begin();
    std::ranges::copy(problem.shared_row(rows[place]), centers.row(j));
  }
  return centers;
}

Matrix<float> draw_plus_plus_centers(const KMeansProblem& problem, const Scaling& scaling,
                                     const Random& random, const Monitor& monitor) {
  Random draws = random.child(0);
  PotentialSampler sampler(problem, scaling, monitor);
  CandidateJudge judge(problem, scaling, random.child(1));
  const int num_trials = 2 + static_cast<int>(portable_log(problem.num_clusters));
  std::optional<Candidate> spare;  // where every point is a centre
  for (int j = 0; j < problem.num_clusters; ++j) {
    std::vector<Candidate> candidates;
    for (int trial = 0; trial < (j == 0 ? 1 : num_trials); ++trial) {
      Candidate candidate = sampler.draw(draws);
      if (candidate.point < 0) break;
      candidates.push_back(std::move(candidate));
    }
    if (candidates.empty() && !spare) spare = first_positive(problem);
    sampler.add_center(candidates.empty() ? *spare : judge.choose(candidates));
  }
  return sampler.take_centers();
}

}  // namespace milieu::internal

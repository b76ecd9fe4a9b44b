// SPDX-License-Identifier: Apache-2.0
// Problem: a penalty whose clusters are found again in other samples of the same kind.
// Method: on a ladder of penalties, pairs of overlapping sub-samples are clustered; the stability
//   of a penalty is the mean adjusted Rand index of the samples that a pair shares. Of all
//   penalties with 2 to sqrt(n) clusters the one with the largest
//     stability * (log of the number of clusters)^kManyClusters
//   is taken, stabilities averaged over neighbours on the ladder.
// Conventions: at most kMaxSamples samples are looked at, drawn at random; the energy is a sum over
//   samples, so a penalty found on m of n samples is multiplied by n / m. kManyClusters balances
//   that two clusters are found again more easily than twenty; how it was chosen is in
//   docs/experiments/exemplar.md.
#include "milieu/exemplar/search/stable_penalty_internal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "milieu/base/random.h"
#include "milieu/exemplar/search/exemplar_search_internal.h"
#include "milieu/exemplar/search/exemplar_solve_internal.h"
#include "milieu/metrics/metrics.h"

namespace milieu::internal {

namespace {

constexpr int64_t kMaxSamples = 400;
constexpr int kPairs = 3;
constexpr double kShare = 0.7;  // of the samples in each half of a pair
constexpr int kMaxRungs = 48;
constexpr double kRungsPerOctave = 4;
constexpr double kManyClusters = 0.3;

// One sub-sample, clustered under rising penalties.
class SubSample {
 public:
  SubSample(std::vector<int> rows, const Matrix<float>& costs, int num_threads, Monitor& monitor)
      : rows_(std::move(rows)), num_threads_(num_threads), monitor_(monitor) {
    Matrix<float> own(std::ssize(rows_), std::ssize(rows_));
    for (int64_t i = 0; i < own.rows(); ++i)
      for (int64_t j = 0; j < own.cols(); ++j) own(i, j) = costs(rows_[i], rows_[j]);
    const std::vector<double> any(rows_.size(), std::numeric_limits<float>::max());
    lists_ = lists_from_matrix(own, any, num_threads, monitor);
  }

  const std::vector<int>& rows() const { return rows_; }

  void cluster(double penalty) {
    lists_.penalty.assign(rows_.size(), penalty);
    const std::vector<int> open =
        solution_ ? solution_->exemplars() : greedy_exemplars(lists_, num_threads_, monitor_);
    solution_ =
        search_exemplars(lists_, open, all_candidates(std::ssize(rows_)), num_threads_, monitor_);
  }
  int num_clusters() const { return static_cast<int>(solution_->exemplars().size()); }
  int label(size_t i) const { return solution_->server[i]; }

 private:
  std::vector<int> rows_;  // ascending
  int num_threads_;
  Monitor& monitor_;
  ServiceLists lists_;
  std::optional<ExemplarSolution> solution_;
};

using Pair = std::array<SubSample, 2>;

// Two overlapping parts of the samples.
Pair draw_pair(const Matrix<float>& costs, Random random, int num_threads, Monitor& monitor) {
  std::vector<int> order(costs.rows());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  random.shuffle(std::span(order));
  const auto count = static_cast<int64_t>(kShare * static_cast<double>(order.size()));
  std::vector<int> first(order.begin(), order.begin() + count);
  std::vector<int> second(order.end() - count, order.end());
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  return {SubSample(std::move(first), costs, num_threads, monitor),
          SubSample(std::move(second), costs, num_threads, monitor)};
}

// The adjusted Rand index of the samples that both have.
double agreement(const Pair& pair) {
  std::vector<int> a, b;
  const auto& [first, second] = pair;
  for (size_t i = 0, j = 0; i < first.rows().size() && j < second.rows().size();) {
    if (first.rows()[i] == second.rows()[j]) {
      a.push_back(first.label(i++));
      b.push_back(second.label(j++));
    } else {
      ++(first.rows()[i] < second.rows()[j] ? i : j);
    }
  }
  return compute_metrics(a, b).ari;
}

struct Rung {
  double stability = 0;
  double num_clusters = 0;  // mean
};

// The rung of the largest figure; -1 where none has a number of clusters that counts.
int best_rung(const std::vector<Rung>& rungs, double most_clusters) {
  int best = -1;
  double highest = 0;
  for (size_t i = 0; i < rungs.size(); ++i) {
    const double k = rungs[i].num_clusters;
    if (k < 2 || k > most_clusters) continue;
    const size_t before = i > 0 ? i - 1 : i, after = std::min(i + 1, rungs.size() - 1);
    const double stability =
        (rungs[before].stability + rungs[i].stability + rungs[after].stability) / 3;
    const double figure = stability * std::pow(std::log(k), kManyClusters);
    if (best < 0 || figure > highest) best = static_cast<int>(i), highest = figure;
  }
  return best;
}

}  // namespace

double stable_penalty(int64_t n, const PairCost& cost, double first, uint64_t seed, int num_threads,
                      Monitor& monitor) {
  const Random random(seed);
  const int64_t m = std::min(n, kMaxSamples);
  std::vector<int64_t> rows = random.child(1).sample_without_replacement(n, m);
  std::sort(rows.begin(), rows.end());
  Matrix<float> costs(m, m);
  for (int64_t i = 0; i < m && !monitor.should_stop(); ++i)
    for (int64_t j = 0; j < m; ++j) costs(i, j) = i == j ? 0.0f : cost(rows[i], rows[j]);
  std::vector<Pair> pairs;
  for (uint64_t i = 0; i < kPairs; ++i)
    pairs.push_back(draw_pair(costs, random.child(2 + i), num_threads, monitor));
  std::vector<Rung> rungs;
  const double share = static_cast<double>(pairs[0][0].rows().size()) / static_cast<double>(m);
  for (int i = 0; i < kMaxRungs; ++i) {
    monitor.on_progress("stability", i, kMaxRungs);
    Rung rung;
    for (Pair& pair : pairs) {
      for (SubSample& sample : pair) {
        if (monitor.should_stop()) return first;
        sample.cluster(first * share * std::exp2(i / kRungsPerOctave));
        rung.num_clusters += sample.num_clusters() / (2.0 * kPairs);
      }
      rung.stability += agreement(pair) / kPairs;
    }
    rungs.push_back(rung);
    if (rung.num_clusters == 1) break;
  }
  const int best = best_rung(rungs, std::sqrt(static_cast<double>(n)));
  if (best < 0) return first;
  return first * std::exp2(best / kRungsPerOctave) * static_cast<double>(n) /
         static_cast<double>(m);
}

}  // namespace milieu::internal

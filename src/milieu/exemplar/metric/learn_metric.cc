// SPDX-License-Identifier: Apache-2.0
// Problem: distances |A (g(x) - g(y))|^2 with A^T A the inverse of S_l = (1 - l) S + l tr(S) / r I,
//   where S is the covariance of samples about the means of their clusters, pooled over clusters
//   and sets. No direction is favoured because the clusters shown differ along it: the metric
//   serves new clusters, too.
// Symbols: g as learn_metric_space.cc makes it; l in kShrinkages.
// Conventions: one set is split into kFolds parts of every cluster; the distance of two samples is
//   that of the metric fitted without both of their parts. Several sets: a set's distances are
//   those of the metric fitted without it (and the other sets of its group, beyond kFolds sets).
#include "milieu/exemplar/metric/learn_metric_internal.h"

#include <algorithm>
#include <cmath>

#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/linalg/gemm.h"
#include "milieu/linalg/pca.h"

namespace milieu::internal {

namespace {

constexpr int64_t kMinSamples = 50;  // in total; with fewer a covariance is mostly shrinkage
constexpr int kFolds = 8;

// Folds of the samples of one set: the members of every cluster are dealt out in random order.
std::vector<int> deal_folds(const std::vector<int>& labels, Random random) {
  std::vector<std::vector<int>> members(1 + *std::max_element(labels.begin(), labels.end()));
  for (size_t p = 0; p < labels.size(); ++p) members[labels[p]].push_back(static_cast<int>(p));
  std::vector<int> fold(labels.size());
  for (std::vector<int>& each : members) {
    random.shuffle(std::span(each));
    const int64_t first = random.uniform_index(kFolds);
    for (size_t i = 0; i < each.size(); ++i)
      fold[each[i]] = static_cast<int>((first + static_cast<int64_t>(i)) % kFolds);
  }
  return fold;
}

// Rows of `points` about the means of their clusters, for samples that are kept; appended. Returns
// how many of them are free: samples less clusters.
int64_t add_deviations(const Matrix<float>& points, const std::vector<int>& labels,
                       const std::vector<char>& is_kept, std::vector<float>& rows) {
  const int64_t r = points.cols();
  const int clusters = 1 + *std::max_element(labels.begin(), labels.end());
  Matrix<double> means(clusters, r);
  std::vector<double> counts(clusters, 0.0);
  for (size_t p = 0; p < labels.size(); ++p) {
    if (is_kept[p] == 0) continue;
    ++counts[labels[p]];
    for (int64_t j = 0; j < r; ++j) means(labels[p], j) += points(static_cast<int64_t>(p), j);
  }
  int64_t num_free = -std::count_if(counts.begin(), counts.end(), [](double c) { return c > 0; });
  for (size_t p = 0; p < labels.size(); ++p) {
    if (is_kept[p] == 0) continue;
    ++num_free;
    for (int64_t j = 0; j < r; ++j)
      rows.push_back(static_cast<float>(points(static_cast<int64_t>(p), j) -
                                        means(labels[p], j) / counts[labels[p]]));
  }
  return num_free;
}

// Fitted to the samples of all sets that are kept; is_kept has one vector per set.
WithinAxes fit_axes(const MetricSpace& space, const LearnInput& input,
                    const std::vector<std::vector<char>>& is_kept) {
  const int64_t r = space.map.cols();
  std::vector<float> rows;
  int64_t num_free = 0;
  for (size_t k = 0; k < input.sets.size(); ++k)
    num_free += add_deviations(space.coordinates[k], input.sets[k].labels, is_kept[k], rows);
  // Rows of zeros, so that directions in which nothing varies are among the axes.
  rows.resize(std::max(std::ssize(rows), r * r), 0.0f);
  const int64_t num_rows = std::ssize(rows) / r;
  const Pca pca = fit_pca(FloatView(rows.data(), num_rows, r), static_cast<int>(r));
  WithinAxes fitted;
  fitted.axes = Matrix<float>(r, r);
  for (int64_t i = 0; i < r * r; ++i)
    fitted.axes.data()[i] = static_cast<float>(pca.components.data()[i]);
  for (const double variance : pca.explained_variance)
    fitted.variances.push_back(variance * static_cast<double>(num_rows - 1) /
                               static_cast<double>(std::max<int64_t>(num_free, 1)));
  return fitted;
}

// Squared distances of the pairs of one set that `is_measured(p, q)` names.
template <class IsMeasured>
void measure_pairs(const Matrix<float>& rows, Matrix<float>& out, int num_threads,
                   IsMeasured&& is_measured) {
  parallel_for(rows.rows(), 16, num_threads, [&](const Block& block) {
    for (int64_t p = block.begin; p < block.end; ++p)
      for (int64_t q = 0; q < rows.rows(); ++q) {
        if (!is_measured(p, q) || p == q) continue;
        double sum = 0;
        for (int64_t j = 0; j < rows.cols(); ++j) {
          const double difference = static_cast<double>(rows(p, j)) - rows(q, j);
          sum += difference * difference;
        }
        out(p, q) = static_cast<float>(sum);
      }
  });
}

// All metrics and discriminants of the samples that are kept.
class FoldFit {
 public:
  FoldFit(const LearnInput& input, const MetricSpace& space,
          const std::vector<std::vector<char>>& is_kept)
      : within_(fit_axes(space, input, is_kept)),
        centers_(cluster_centers(space, input, is_kept)) {}

  // On set k. Samples of which `is_own(p)` is true get their distances to centers from this fit.
  template <class IsMeasured, class IsOwn>
  void measure(size_t k, int num_threads, MetricCandidates& out, IsMeasured&& is_measured,
               IsOwn&& is_own) const {
    for (size_t l = 0; l < static_cast<size_t>(kNumMetrics); ++l) {
      const Matrix<float> rows = within_.white(out.space.coordinates[k], kShrinkages[l]);
      measure_pairs(rows, out.distances[k][l], num_threads, is_measured);
      const Discriminants known = find_discriminants(within_, centers_, kShrinkages[l]);
      measure_pairs(along(known, rows), out.known[k].distances[l], num_threads, is_measured);
      for (int64_t p = 0; p < rows.rows(); ++p)
        if (is_own(p)) note_nearest(rows, centers_.set, known, p, l, out.known[k]);
    }
  }

 private:
  WithinAxes within_;
  ClusterCenters centers_;
};

void cross_fit_samples(const LearnInput& input, uint64_t seed, int num_threads, Monitor& monitor,
                       MetricCandidates& out) {
  const std::vector<int> fold = deal_folds(input.sets[0].labels, Random(seed).child(77));
  // Every two parts have pairs of their own, so that their metrics can be fitted side by side.
  const auto fit = [&](int a, int b) {
    auto is_kept = keep_all(input);
    for (size_t p = 0; p < fold.size(); ++p) is_kept[0][p] = fold[p] != a && fold[p] != b;
    // Pairs within a part have one metric, too: of this part and the next one.
    const int own = b == a + 1 ? a : (a == 0 && b == kFolds - 1) ? b : -1;
    const auto is_measured = [&](int64_t p, int64_t q) {
      const int i = std::min(fold[p], fold[q]), j = std::max(fold[p], fold[q]);
      return (i == a && j == b) || (i == j && i == own);
    };
    FoldFit(input, out.space, is_kept).measure(0, 1, out, is_measured, [&](int64_t p) {
      return fold[p] == own;
    });
  };
  for (int step = 1; step <= kFolds / 2 && !monitor.should_stop(); ++step) {
    parallel_for(step < kFolds / 2 ? kFolds : kFolds / 2, 1, num_threads, [&](const Block& block) {
      const int i = static_cast<int>(block.begin), j = (i + step) % kFolds;
      if (!monitor.should_stop()) fit(std::min(i, j), std::max(i, j));
    });
    monitor.on_progress("metrics", step, kFolds / 2);
  }
}

void cross_fit_sets(const LearnInput& input, int num_threads, Monitor& monitor,
                    MetricCandidates& out) {
  const size_t groups = std::min<size_t>(kFolds, input.sets.size());
  for (size_t g = 0; g < groups && !monitor.should_stop(); ++g) {
    auto is_kept = keep_all(input);
    for (size_t k = g; k < input.sets.size(); k += groups)
      std::fill(is_kept[k].begin(), is_kept[k].end(), 0);
    const FoldFit fit(input, out.space, is_kept);
    for (size_t k = g; k < input.sets.size(); k += groups)
      fit.measure(
          k, num_threads, out, [](int64_t, int64_t) { return true; }, [](int64_t) { return true; });
    monitor.on_progress("metrics", static_cast<int64_t>(g), static_cast<int64_t>(groups));
  }
}

}  // namespace

std::vector<double> WithinAxes::factors(double shrinkage) const {
  double mean = 0;
  for (const double variance : variances) mean += variance / static_cast<double>(variances.size());
  std::vector<double> factors;
  for (const double variance : variances) {
    const double shrunk = (1 - shrinkage) * std::max(variance, 0.0) + shrinkage * mean;
    factors.push_back(mean > 0 ? 1 / shrunk : 1.0);
  }
  return factors;
}

std::vector<std::vector<char>> keep_all(const LearnInput& input) {
  std::vector<std::vector<char>> is_kept;
  for (const LearnSet& set : input.sets) is_kept.emplace_back(set.labels.size(), 1);
  return is_kept;
}

Matrix<float> WithinAxes::white(FloatView points, double shrinkage) const {
  Matrix<float> rows(points.rows(), axes.rows());
  gemm_nt(1, points, axes, 0, rows);
  const std::vector<double> scales = factors(shrinkage);
  for (int64_t p = 0; p < rows.rows(); ++p)
    for (int64_t j = 0; j < rows.cols(); ++j)
      rows(p, j) *= static_cast<float>(std::sqrt(scales[j]));
  return rows;
}

int64_t total_samples(const LearnInput& input) {
  int64_t total = 0;
  for (const LearnSet& set : input.sets) total += std::ssize(set.labels);
  return total;
}

bool can_fit_metrics(const LearnInput& input, const ExemplarLearnOptions& options) {
  const CrfTrainOptions& train = options.train;
  const bool is_signed = train.constraint == CrfConstraint::Free ||
                         (train.constraint == CrfConstraint::Box && train.box_low < 0);
  return options.metric && !is_signed && input.sets[0].matrices.empty() &&
         total_samples(input) >= kMinSamples;
}

double metric_bytes(const std::vector<LearnSet>& sets) {
  double bytes = 0;
  for (const LearnSet& set : sets) {
    const double n = static_cast<double>(set.labels.size());
    bytes += 2 * sizeof(float) * static_cast<double>(kNumMetrics) * n * n;
  }
  return bytes;
}

MetricCandidates fit_metrics(const LearnInput& input,
                             const std::vector<CandidateDistance>& candidates,
                             const std::vector<char>& is_kept, uint64_t seed, int num_threads,
                             Monitor& monitor) {
  MetricCandidates metrics;
  metrics.space = make_metric_space(input, candidates, is_kept, num_threads, monitor);
  for (const LearnSet& set : input.sets) {
    const int64_t n = std::ssize(set.labels);
    std::vector<Matrix<float>>& each = metrics.distances.emplace_back();
    KnownDistances& known = metrics.known.emplace_back();
    for (int64_t l = 0; l < kNumMetrics; ++l) {
      each.emplace_back(n, n);
      known.distances.emplace_back(n, n);
      known.nearest.emplace_back(n);
      known.other.emplace_back(n);
    }
  }
  if (monitor.should_stop()) return metrics;
  metrics.all = fit_axes(metrics.space, input, keep_all(input));
  if (input.sets.size() == 1)
    cross_fit_samples(input, seed, num_threads, monitor, metrics);
  else
    cross_fit_sets(input, num_threads, monitor, metrics);
  return metrics;
}

Matrix<float> joined_projection(const MetricCandidates& metrics, std::span<const double> weights) {
  const int64_t r = metrics.space.map.cols();
  std::vector<double> sum(r, 0.0);
  for (int64_t l = 0; l < kNumMetrics; ++l) {
    const std::vector<double> factors = metrics.all.factors(kShrinkages[l]);
    for (int64_t j = 0; j < r; ++j) sum[j] += weights[l] * factors[j];
  }
  if (std::all_of(sum.begin(), sum.end(), [](double x) { return x <= 0; })) return {};
  Matrix<float> projection(metrics.space.map.rows(), r);
  gemm_nt(1, metrics.space.map, metrics.all.axes, 0, projection);
  for (int64_t t = 0; t < projection.rows(); ++t)
    for (int64_t j = 0; j < r; ++j)
      projection(t, j) *= static_cast<float>(std::sqrt(std::max(sum[j], 0.0)));
  return projection;
}

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// Symbols: f the penalty, n the samples of a set; f(n) = f (n / n0)^e with n0 the mean size of the
//   training sets.
// Conventions: e is the slope, through the full size, of the best penalties of sub-samples of a
//   half and a quarter of every cluster, all in logarithms; between 0 and kMaxExponent, and
//   kTypicalExponent where clusters are too small to be sub-sampled.
#include <algorithm>
#include <cmath>

#include "milieu/base/random.h"
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/exemplar/learn/learned_clusters_internal.h"
#include "milieu/metrics/metrics.h"

namespace milieu::internal {

namespace {

// Factors 1/8 to 8, a quarter of an octave between two.
constexpr int kRungs = 25;
constexpr double kRungsPerOctave = 4;
constexpr int kDraws = 2;  // of each sub-sample
constexpr double kMaxExponent = 1.5;
constexpr double kTypicalExponent = 0.7;

double rung(int i) { return std::exp2((i - kRungs / 2) / kRungsPerOctave); }

// Adds the samples that each rung's clustering gets right.
void add_right(const LearnedDistance& model, FloatView costs, const std::vector<int>& labels,
               int num_threads, Monitor& monitor, std::vector<double>& right) {
  for (int i = 0; i < kRungs && !monitor.should_stop(); ++i) {
    const ExemplarResult found = quick_exemplars(
        costs, model.penalty * rung(i), has_own_costs(model) ? rung(i) : 0.0, num_threads, monitor);
    right[i] += compute_metrics(found.labels, labels).accuracy * static_cast<double>(labels.size());
  }
}

// True where a quarter of the clusters still has pairs.
bool can_be_sampled(const std::vector<LearnSet>& sets) {
  double samples = 0, clusters = 0;
  for (const LearnSet& set : sets) {
    samples += static_cast<double>(set.labels.size());
    clusters += num_clusters(set);
  }
  return samples >= 6 * clusters;
}

}  // namespace

int middle_of_best(const std::vector<double>& values) {
  const int size = static_cast<int>(values.size());
  const double best = *std::max_element(values.begin(), values.end());
  int chosen = 0, longest = 0;
  for (int begin = 0; begin < size;) {
    int end = begin;
    while (end < size && values[end] == best) ++end;
    const int middle = (begin + end - 1) / 2;
    const bool is_nearer = std::abs(middle - size / 2) < std::abs(chosen - size / 2);
    if (end - begin > longest || (end > begin && end - begin == longest && is_nearer)) {
      longest = end - begin;
      chosen = middle;
    }
    begin = std::max(end, begin + 1);
  }
  return chosen;
}

std::vector<int> draw_samples(const std::vector<int>& labels, double share, uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<int>> members(1 + *std::max_element(labels.begin(), labels.end()));
  for (size_t p = 0; p < labels.size(); ++p) members[labels[p]].push_back(static_cast<int>(p));
  std::vector<int> rows;
  for (std::vector<int>& each : members) {
    random.shuffle(std::span(each));
    const auto count = static_cast<size_t>(std::lround(share * static_cast<double>(each.size())));
    each.resize(std::min(each.size(), std::max<size_t>(2, count)));
    rows.insert(rows.end(), each.begin(), each.end());
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

SubSample take_samples(const Matrix<float>& costs, const std::vector<int>& labels,
                       const std::vector<int>& rows) {
  SubSample taken;
  taken.costs = Matrix<float>(std::ssize(rows), std::ssize(rows));
  for (size_t i = 0; i < rows.size(); ++i) {
    taken.labels.push_back(labels[rows[i]]);
    for (size_t j = 0; j < rows.size(); ++j)
      taken.costs(static_cast<int64_t>(i), static_cast<int64_t>(j)) = costs(rows[i], rows[j]);
  }
  return taken;
}

Calibration calibrate_penalty(const std::vector<LearnSet>& sets,
                              const std::vector<Matrix<float>>& costs, uint64_t seed,
                              int num_threads, Monitor& monitor, LearnedDistance& model) {
  double total = 0;
  std::vector<double> right(kRungs, 0.0);
  for (size_t k = 0; k < sets.size(); ++k) {
    total += static_cast<double>(sets[k].labels.size());
    monitor.on_progress("calibration", static_cast<int64_t>(k), std::ssize(sets));
    add_right(model, costs[k], sets[k].labels, num_threads, monitor, right);
  }
  const int full = middle_of_best(right);
  double slope = 0, squares = 0;
  for (const double share : {0.5, 0.25}) {
    if (!can_be_sampled(sets)) break;
    std::vector<double> sub(kRungs, 0.0);
    double sampled = 0;
    for (size_t k = 0; k < sets.size(); ++k)
      for (int d = 0; d < (sets.size() > 1 ? 1 : kDraws) && !monitor.should_stop(); ++d) {
        const uint64_t stream = 100 * k + 10 * static_cast<uint64_t>(d) + (share < 0.5 ? 1 : 0);
        const SubSample drawn = take_samples(
            costs[k], sets[k].labels,
            draw_samples(sets[k].labels, share, Random(seed).child(stream).next_bits() >> 1));
        sampled += static_cast<double>(drawn.labels.size()) / (sets.size() > 1 ? 1 : kDraws);
        add_right(model, drawn.costs, drawn.labels, num_threads, monitor, sub);
      }
    const double x = std::log2(sampled / total);
    slope += x * (middle_of_best(sub) - full) / kRungsPerOctave;
    squares += x * x;
  }
  if (monitor.should_stop()) return {};
  Calibration found;
  found.factor = rung(full);
  found.exponent = squares > 0 ? std::clamp(slope / squares, 0.0, kMaxExponent) : kTypicalExponent;
  found.accuracy = right[full] / total;
  found.plain_accuracy = right[kRungs / 2] / total;
  model.penalty *= found.factor;
  for (double& weight : model.exemplar_weights) weight *= found.factor;
  for (double& factor : model.diagonal_factor) factor *= found.factor;
  model.penalty_rule = {total / static_cast<double>(sets.size()), found.exponent};
  return found;
}

}  // namespace milieu::internal

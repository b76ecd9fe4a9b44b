// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/metrics/metrics.h"
#include "milieu/neighbors/check_points.h"

namespace milieu::internal {

namespace {

void check_labels(const LearnSet& set, size_t k, int64_t n) {
  require(static_cast<int64_t>(set.labels.size()) == n, [&] {
    return fmt::format("set {} has {} for {}: they must match", k,
                       counted(set.labels.size(), "label"), counted(n, "sample"));
  });
  require(n > 1, [&] {
    return fmt::format(
        "set {} has one sample: it must have at least two clusters, one of them with two samples "
        "or more",
        k);
  });
  const int highest = *std::max_element(set.labels.begin(), set.labels.end());
  std::vector<int64_t> sizes(std::max(highest, 0) + 1, 0);
  for (int label : set.labels) {
    require(label >= 0,
            [&] { return fmt::format("set {} has the label {}, must be >= 0", k, label); });
    ++sizes[label];
  }
  require(std::find(sizes.begin(), sizes.end(), 0) == sizes.end(),
          [&] { return fmt::format("set {} has an empty cluster: number them from 0", k); });
  require(sizes.size() > 1 && static_cast<int64_t>(sizes.size()) < n, [&] {
    return fmt::format(
        "set {} has {} for {}: it must have at least two clusters, one of them "
        "with two samples or more",
        k, counted(sizes.size(), "cluster"), counted(n, "sample"));
  });
}

void check_matrices(const LearnSet& set, size_t k, size_t expected) {
  require(set.matrices.size() == expected, [&] {
    return fmt::format("set {} has {}, set 0 has {}: they must match", k,
                       counted(set.matrices.size(), "matrix", "matrices"), expected);
  });
  const int64_t n = set.matrices[0].rows();
  for (size_t t = 0; t < set.matrices.size(); ++t) {
    const FloatView matrix = set.matrices[t];
    require(matrix.rows() == n && matrix.cols() == n, [&] {
      return fmt::format(
          "matrix {} of set {} is {} x {}, must be {} x {}: one row and one column per sample", t,
          k, matrix.rows(), matrix.cols(), n, n);
    });
    check_distances(matrix, fmt::format("matrix {} of set {}", t, k));
  }
}

void check_candidates(const LearnInput& input) {
  const int64_t d = input.sets[0].points.cols();
  for (const CandidateDistance& c : input.candidates) {
    require(c.distance != Distance::Precomputed, [&] {
      return fmt::format("candidate '{}' is precomputed: give matrices instead", c.name);
    });
    require(c.first_column >= 0 && c.num_columns >= 0 && c.first_column < d &&
                c.first_column + std::max<int64_t>(c.num_columns, 1) <= d,
            [&] {
              return fmt::format("candidate '{}' is of columns {} to {}, the points have {}",
                                 c.name, c.first_column, c.first_column + c.num_columns - 1, d);
            });
  }
}

// Factors 2^(-7/4) to 2^(7/4), a quarter of an octave between two.
constexpr int kRungs = 15;
double rung(int i) { return std::exp2((i - kRungs / 2) / 4.0); }

// The middle of the longest run of highest entries; of two as long, the one nearer to the middle of
// the ladder.
int middle_of_best(const std::vector<double>& accuracies) {
  const double best = *std::max_element(accuracies.begin(), accuracies.end());
  int chosen = 0, longest = 0;
  for (int begin = 0; begin < kRungs;) {
    int end = begin;
    while (end < kRungs && accuracies[end] == best) ++end;
    const int middle = (begin + end - 1) / 2;
    const bool is_nearer = std::abs(middle - kRungs / 2) < std::abs(chosen - kRungs / 2);
    if (end - begin > longest || (end > begin && end - begin == longest && is_nearer)) {
      longest = end - begin;
      chosen = middle;
    }
    begin = std::max(end, begin + 1);
  }
  return chosen;
}

}  // namespace

void check_distances(FloatView matrix, const std::string& name) {
  for (int64_t p = 0; p < matrix.rows(); ++p)
    for (int64_t q = 0; q < matrix.cols(); ++q)
      if (!std::isfinite(matrix(p, q)) || (p != q && matrix(p, q) < 0))
        throw DataError(fmt::format(
            "{} has {} at row {}, column {} (counted from 0), must be a finite distance of at "
            "least 0",
            name, matrix(p, q), p, q));
}

int num_clusters(const LearnSet& set) {
  return 1 + *std::max_element(set.labels.begin(), set.labels.end());
}

LearnForm check_learn_input(const LearnInput& input, const ExemplarLearnOptions& options) {
  require(!input.sets.empty(), "learning a distance needs at least one example set");
  const bool is_precomputed = !input.sets[0].matrices.empty();
  const int64_t d = input.sets[0].points.cols();
  for (size_t k = 0; k < input.sets.size(); ++k) {
    const LearnSet& set = input.sets[k];
    if (is_precomputed) {
      check_matrices(set, k, input.sets[0].matrices.size());
    } else {
      check_points(set.points, fmt::format("set {}", k));
      require(set.points.cols() == d, [&] {
        return fmt::format("set {} has {}, set 0 has {}: they must match", k,
                           counted(set.points.cols(), "column"), d);
      });
    }
    check_labels(set, k, is_precomputed ? set.matrices[0].rows() : set.points.rows());
  }
  if (!is_precomputed) check_candidates(input);
  const size_t num_features = is_precomputed             ? input.sets[0].matrices.size()
                              : input.candidates.empty() ? static_cast<size_t>(d)
                                                         : input.candidates.size();
  require(input.names.empty() || input.names.size() == num_features, [&] {
    return fmt::format("{} names for {}: they must match", input.names.size(),
                       counted(num_features, "candidate"));
  });
  const double bytes = learn_memory_bytes(input.sets, options.precision);
  require(bytes / 1e9 <= options.max_memory_gb, [&] {
    return fmt::format(
        "distances and duals take {:.1f} GB, max_memory_gb is {}: raise it, or give fewer samples",
        bytes / 1e9, options.max_memory_gb);
  });
  if (is_precomputed) return LearnForm::Precomputed;
  return input.candidates.empty() ? LearnForm::Coordinates : LearnForm::Distances;
}

Calibration calibrate_penalty(const LearnedDistance& model, const std::vector<LearnSet>& sets,
                              int num_threads, Monitor& monitor) {
  std::vector<double> right(kRungs, 0.0);
  double total = 0;
  for (const LearnSet& set : sets) {
    const Matrix<float> costs = set.matrices.empty()
                                    ? learned_costs(model, set.points, set.points, num_threads)
                                    : learned_costs(model, set.matrices);
    ExemplarInput input;
    input.costs = costs;
    ExemplarOptions options;
    options.distance = Distance::Precomputed;
    options.rel_gap = 1e-3;  // the partition is needed, not the last digits of its proof
    options.num_threads = num_threads;
    total += static_cast<double>(set.labels.size());
    for (int i = 0; i < kRungs; ++i) {
      if (monitor.should_stop()) return {};
      options.penalty = to_text(FieldValue(model.penalty * rung(i)));
      const ExemplarResult result = fit_exemplar(input, options, monitor);
      right[i] += compute_metrics(result.labels, set.labels).accuracy *
                  static_cast<double>(set.labels.size());
      monitor.on_progress("calibration", i, kRungs);
    }
  }
  for (double& value : right) value /= total;
  const int chosen = middle_of_best(right);
  return {rung(chosen), right[chosen], right[kRungs / 2]};
}

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/exemplar/learn/learn_internal.h"
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

void check_matrices(const LearnSet& set, size_t k, size_t expected, bool is_signed) {
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
    check_distances(matrix, fmt::format("matrix {} of set {}", t, k), is_signed);
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

}  // namespace

void check_distances(FloatView matrix, const std::string& name, bool is_signed) {
  for (int64_t p = 0; p < matrix.rows(); ++p)
    for (int64_t q = 0; q < matrix.cols(); ++q)
      if (!std::isfinite(matrix(p, q)) || (p != q && matrix(p, q) < 0 && !is_signed))
        throw DataError(
            fmt::format("{} has {} at row {}, column {} (counted from 0), must be a "
                        "finite {}",
                        name, matrix(p, q), p, q, is_signed ? "number" : "distance of at least 0"));
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
      check_matrices(set, k, input.sets[0].matrices.size(), options.signed_features);
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
  check_own_costs(input, options);
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

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/learn/learned_distance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/exemplar/learn/learn_loops.h"
#include "milieu/linalg/gemm.h"

namespace milieu {

namespace {

constexpr int64_t kRowsPerTile = 64;

Distance distance_by_name(const std::string& name) {
  for (const auto& [word, distance] : distance_choices().choices)
    if (word == name) return distance;
  throw DataError(
      fmt::format("a learned distance names the distance '{}', which does not exist", name));
}

void check_columns(const LearnedDistance& model, FloatView points) {
  require(model.form != "precomputed",
          "the distance was learned from matrices: give matrices of the same candidates");
  require(points.cols() == model.num_point_columns, [&] {
    return fmt::format("points have {}, the distance was learned on {}: they must match",
                       counted(points.cols(), "column"), model.num_point_columns);
  });
}

FloatView columns(FloatView points, const CandidateDistance& c) {
  return {points.data() + c.first_column, points.rows(), c.num_columns, points.stride()};
}

// Exact to double rounding: squared differences by the pair.
void coordinate_tile(const LearnedDistance& model, FloatView a, FloatView b,
                     MatrixView<float> out) {
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < b.rows(); ++j) {
      double sum = 0;
      for (int64_t t = 0; t < a.cols(); ++t) {
        const double difference = static_cast<double>(a(i, t)) - b(j, t);
        sum += model.weights[t] * difference * difference;
      }
      out(i, j) = static_cast<float>(sum);
    }
}

void distance_tile(const std::vector<double>& weights,
                   const std::vector<CandidateDistance>& candidates, FloatView a, FloatView b,
                   MatrixView<float> out) {
  Matrix<float> scratch(a.rows(), b.rows());
  const auto add = MILIEU_SELECT_ISA(add_scaled);
  for (int64_t i = 0; i < a.rows(); ++i) std::fill_n(out.row(i), out.cols(), 0.0f);
  for (size_t t = 0; t < candidates.size(); ++t) {
    if (weights[t] == 0) continue;
    pair_distances(candidates[t].distance, columns(a, candidates[t]), columns(b, candidates[t]),
                   scratch, candidates[t].gamma);
    for (int64_t i = 0; i < a.rows(); ++i)
      add(scratch.row(i), static_cast<float>(weights[t]), out.cols(), out.row(i));
  }
}

// out += the squared distances of rows of a and b.
void add_metric(FloatView a, FloatView b, MatrixView<float> out) {
  Matrix<float> scratch(a.rows(), b.rows());
  pair_distances(Distance::SquaredEuclidean, a, b, scratch);
  const auto add = MILIEU_SELECT_ISA(add_scaled);
  for (int64_t i = 0; i < out.rows(); ++i) add(scratch.row(i), 1.0f, out.cols(), out.row(i));
}

// Rows under the metric; empty without one.
Matrix<float> metric_rows(const LearnedDistance& model, FloatView points, int num_threads) {
  if (model.metric.empty()) return {};
  return internal::metric_coordinates(model.metric, model.metric_roots, points, num_threads);
}

// From new rows to fixed ones.
class DistanceTo {
 public:
  DistanceTo(const LearnedDistance& model, FloatView fixed, int num_threads)
      : model_(model),
        candidates_(candidates_of(model)),
        fixed_(fixed),
        fixed_metric_(metric_rows(model, fixed, num_threads)) {}

  void operator()(FloatView rows, MatrixView<float> out) const {
    if (model_.form == "coordinates")
      coordinate_tile(model_, rows, fixed_, out);
    else
      distance_tile(model_.weights, candidates_, rows, fixed_, out);
    if (!fixed_metric_.empty()) add_metric(metric_rows(model_, rows, 1), fixed_metric_, out);
  }

 private:
  const LearnedDistance& model_;
  std::vector<CandidateDistance> candidates_;
  FloatView fixed_;
  Matrix<float> fixed_metric_;
};

}  // namespace

std::vector<std::string> packed_names(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

namespace {

template <class Fail>
void check_known_clusters(const LearnedDistance& m, Fail&& fail) {
  const KnownClusters& k = m.known;
  const auto are_finite = [](const auto& values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
  };
  const auto numbers = [](const Matrix<float>& a) {
    return std::span<const float>(a.data(), static_cast<size_t>(a.size()));
  };
  if (m.form == "precomputed" || k.space.rows() != m.num_point_columns ||
      std::ssize(m.metric_roots) != k.space.rows() || k.axes.rows() != k.space.cols() ||
      k.axes.cols() < 1 || k.centers.rows() < 1 || k.centers.cols() != k.space.cols())
    fail("known clusters and columns do not match");
  if (!are_finite(numbers(k.space)) || !are_finite(numbers(k.axes)) ||
      !are_finite(numbers(k.centers)) || k.limits.size() != 1 || !are_finite(k.limits))
    fail("known clusters are not all finite");
  if (k.use != "clusters" && k.use != "classes" && k.use != "both")
    fail("use of the known clusters is unknown");
  if (k.penalty.size() != 1 || !are_finite(k.penalty) || k.penalty[0] <= 0)
    fail("penalty for known clusters is not above 0");
  if ((!k.penalty_rule.empty() && (k.penalty_rule.size() != 2 || k.penalty_rule[0] < 1)) ||
      k.same_cluster.size() > 1 || !are_finite(k.penalty_rule) || !are_finite(k.same_cluster) ||
      (!k.grouping.empty() && k.grouping != "exemplars" && k.grouping != "cut"))
    fail("rules for known clusters do not fit");
}

// Of what version 2 added.
template <class Fail>
void check_uses(const LearnedDistance& m, Fail&& fail) {
  const auto are_finite = [](const auto& values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
  };
  const std::span<const float> metric(m.metric.data(), static_cast<size_t>(m.metric.size()));
  if (!m.metric.empty() && (m.form == "precomputed" || m.metric.rows() != m.num_point_columns ||
                            std::ssize(m.metric_roots) != m.metric.rows() || !are_finite(metric)))
    fail("metric and columns do not match");
  if (!m.penalty_rule.empty() &&
      (m.penalty_rule.size() != 2 || !are_finite(m.penalty_rule) || m.penalty_rule[0] < 1))
    fail("rule of the penalty is not a number of samples and an exponent");
  if (!m.same_cluster.empty() && (m.same_cluster.size() != 1 || !are_finite(m.same_cluster)))
    fail("distance within clusters is not one number");
  if (!m.grouping.empty() && m.grouping != "exemplars" && m.grouping != "cut")
    fail("grouping is unknown");
  if (!m.known.empty()) check_known_clusters(m, fail);
  if (!m.matrix_kind.empty() && m.matrix_kind != "kernel") fail("kind of matrices is unknown");
  const size_t own = m.exemplar_weights.size();
  if (m.exemplar_means.size() != own || packed_names(m.exemplar_names).size() != own ||
      m.exemplar_columns.size() > own || !are_finite(m.exemplar_weights) ||
      !are_finite(m.exemplar_means))
    fail("features of exemplars and their weights do not match");
  for (const int64_t column : m.exemplar_columns)
    if (column < 0 || column >= m.num_point_columns) fail("features of exemplars are no columns");
  if (m.diagonal_factor.size() > 1 || !are_finite(m.diagonal_factor) ||
      (!m.diagonal_factor.empty() && m.form != "precomputed"))
    fail("factor of the diagonals is not one number of a distance of matrices");
}

}  // namespace

void check_learned_distance(const LearnedDistance& m, const std::string& source) {
  const size_t f = m.weights.size();
  const auto fail = [&](const char* what) {
    throw DataError(fmt::format("{} holds a learned distance whose {}", source, what));
  };
  if (f == 0 || packed_names(m.names).size() != f) fail("names and weights do not match");
  for (const double w : m.weights)
    if (!std::isfinite(w)) fail("weights are not all finite");
  if (!std::isfinite(m.penalty) || m.penalty <= 0) fail("penalty is not above 0");
  check_uses(m, fail);
  if (m.form != "coordinates" && m.form != "distances" && m.form != "precomputed")
    fail("form is unknown");
  if (m.form == "coordinates" && m.num_point_columns != static_cast<int64_t>(f))
    fail("columns and weights do not match");
  if (m.form == "distances") {
    if (packed_names(m.distances).size() != f || m.gammas.size() != f ||
        m.first_columns.size() != f || m.num_columns.size() != f)
      fail("candidates and weights do not match");
    for (size_t t = 0; t < f; ++t)
      if (m.first_columns[t] < 0 || m.num_columns[t] < 1 ||
          m.first_columns[t] > m.num_point_columns - m.num_columns[t])
        fail("candidates lie outside the columns");
    candidates_of(m);
  }
  const bool has_rows = m.form != "precomputed" || !m.samples.empty();  // matrices have none
  if ((has_rows && m.samples.rows() != static_cast<int64_t>(m.sample_labels.size())) ||
      (!m.samples.empty() && m.samples.cols() != m.num_point_columns))
    fail("samples and classes do not match");
  const int num_classes = static_cast<int>(packed_names(m.class_names).size());
  for (const int label : m.sample_labels)
    if (label < 0 || label >= num_classes) fail("classes are not all named");
}

std::vector<CandidateDistance> candidates_of(const LearnedDistance& model) {
  const std::vector<std::string> names = packed_names(model.names),
                                 kinds = packed_names(model.distances);
  std::vector<CandidateDistance> candidates;
  for (size_t t = 0; t < kinds.size(); ++t)
    candidates.push_back({names[t], distance_by_name(kinds[t]), model.gammas[t],
                          model.first_columns[t], model.num_columns[t]});
  return candidates;
}

Matrix<float> apply_weights(const LearnedDistance& model, FloatView points, int num_threads) {
  check_columns(model, points);
  require(model.form == "coordinates", "apply_weights is for weights of coordinates");
  for (const double w : model.weights)
    require(w >= 0, [&] { return fmt::format("a weight is {}, must be at least 0", w); });
  const Matrix<float> metric = metric_rows(model, points, num_threads);
  Matrix<float> weighted(points.rows(), points.cols() + metric.cols());
  for (int64_t p = 0; p < points.rows(); ++p) {
    for (int64_t t = 0; t < points.cols(); ++t)
      weighted(p, t) = static_cast<float>(points(p, t) * std::sqrt(model.weights[t]));
    if (!metric.empty()) std::copy_n(metric.row(p), metric.cols(), weighted.row(p) + points.cols());
  }
  return weighted;
}

Matrix<float> learned_costs(const LearnedDistance& model, FloatView a, FloatView b, int num_threads,
                            Monitor& monitor) {
  check_columns(model, a);
  check_columns(model, b);
  Matrix<float> costs(a.rows(), b.rows());
  const DistanceTo distance(model, b, num_threads);
  parallel_for(a.rows(), kRowsPerTile, num_threads, [&](const Block& block) {
    if (monitor.should_stop()) return;
    distance(a.rows_between(block.begin, block.end),
             costs.view().rows_between(block.begin, block.end));
  });
  return costs;
}

Matrix<float> learned_costs(const LearnedDistance& model, const std::vector<FloatView>& matrices) {
  require(model.form == "precomputed",
          "the distance was learned from points: give points, not matrices");
  require(matrices.size() == model.weights.size(), [&] {
    return fmt::format("{} given, the distance was learned on {}: they must match",
                       counted(matrices.size(), "matrix", "matrices"), model.weights.size());
  });
  const auto add = MILIEU_SELECT_ISA(add_scaled);
  Matrix<float> costs(matrices[0].rows(), matrices[0].cols());
  for (size_t t = 0; t < matrices.size(); ++t) {
    require(matrices[t].rows() == costs.rows() && matrices[t].cols() == costs.cols(), [&] {
      return fmt::format("matrix {} is {} x {}, matrix 0 is {} x {}: they must match", t,
                         matrices[t].rows(), matrices[t].cols(), costs.rows(), costs.cols());
    });
    internal::check_distances(matrices[t], fmt::format("matrix {}", t), !model.is_signed.empty());
    for (int64_t p = 0; p < costs.rows(); ++p)
      add(matrices[t].row(p), static_cast<float>(model.weights[t]), costs.cols(), costs.row(p));
  }
  return costs;
}

std::vector<int> classify_learned(const LearnedDistance& model, FloatView points, int num_threads,
                                  Monitor& monitor) {
  require(model.form != "precomputed",
          "the distance was learned from matrices: give distances to the training samples");
  require(!model.samples.empty(), "the model has no training samples to compare with");
  check_columns(model, points);
  if (model.known.serves("classes"))
    return classify_learned(known_distance(model), points, num_threads, monitor);
  std::vector<int> classes(points.rows(), 0);
  const DistanceTo distance(model, model.samples, num_threads);
  parallel_for(points.rows(), kRowsPerTile, num_threads, [&](const Block& block) {
    if (monitor.should_stop()) return;
    Matrix<float> costs(block.size(), model.samples.rows());
    distance(points.rows_between(block.begin, block.end), costs);
    for (int64_t i = 0; i < block.size(); ++i) {
      const auto row = costs.row_span(i);
      classes[block.begin + i] =
          model.sample_labels[std::min_element(row.begin(), row.end()) - row.begin()];
    }
  });
  return classes;
}

std::vector<int> classify_learned(const LearnedDistance& model,
                                  const std::vector<FloatView>& matrices) {
  require(!model.sample_labels.empty(),
          "the model does not know the classes of its training samples: learn it again");
  const Matrix<float> costs = learned_costs(model, matrices);
  require(costs.cols() == static_cast<int64_t>(model.sample_labels.size()), [&] {
    return fmt::format(
        "the matrices have {}, the distance was learned on {}: they must match, one row per new "
        "sample and one column per training sample",
        counted(costs.cols(), "column"), counted(model.sample_labels.size(), "sample"));
  });
  for (const FloatView& matrix : matrices)  // a diagonal is like every other entry here
    for (int64_t p = 0; p < std::min(matrix.rows(), matrix.cols()) && model.is_signed.empty(); ++p)
      if (!(matrix(p, p) >= 0))
        throw DataError(fmt::format("a matrix has {} at row {}, column {}, must be at least 0",
                                    matrix(p, p), p, p));
  std::vector<int> classes;
  for (int64_t i = 0; i < costs.rows(); ++i) {
    const auto row = costs.view().row_span(i);
    classes.push_back(model.sample_labels[std::min_element(row.begin(), row.end()) - row.begin()]);
  }
  return classes;
}

namespace internal {

Matrix<float> metric_coordinates(FloatView map, const std::vector<int64_t>& is_root,
                                 FloatView points, int num_threads) {
  Matrix<float> rows(points.rows(), map.cols());
  parallel_for(points.rows(), kRowsPerTile, num_threads, [&](const Block& block) {
    Matrix<float> taken(block.size(), points.cols());
    for (int64_t i = 0; i < block.size(); ++i)
      for (int64_t t = 0; t < points.cols(); ++t) {
        const float value = points(block.begin + i, t);
        taken(i, t) = is_root[t] != 0 ? std::sqrt(std::max(value, 0.0f)) : value;
      }
    gemm(1, taken, map, 0, rows.view().rows_between(block.begin, block.end));
  });
  return rows;
}

}  // namespace internal

}  // namespace milieu

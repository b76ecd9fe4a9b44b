// SPDX-License-Identifier: Apache-2.0
#include "milieu/exemplar/learn/learned_distance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/exemplar/learn/learn_loops.h"

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

void use_model_penalty(const LearnedDistance& model, ExemplarOptions& options) {
  if (options.penalty == ExemplarOptions().penalty)
    options.penalty = to_text(FieldValue(model.penalty));
}

// The exemplars are rows of INPUT under a distance that predict() does not know.
ExemplarResult fit_costs(FloatView costs, ExemplarOptions options, Monitor& monitor) {
  options.distance = Distance::Precomputed;
  ExemplarInput input;
  input.costs = costs;
  return fit_exemplar(input, options, monitor);
}

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

void check_learned_distance(const LearnedDistance& m, const std::string& source) {
  const size_t f = m.weights.size();
  const auto fail = [&](const char* what) {
    throw DataError(fmt::format("{} holds a learned distance whose {}", source, what));
  };
  if (f == 0 || packed_names(m.names).size() != f) fail("names and weights do not match");
  for (const double w : m.weights)
    if (!std::isfinite(w)) fail("weights are not all finite");
  if (!std::isfinite(m.penalty) || m.penalty <= 0) fail("penalty is not above 0");
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
  if (m.samples.rows() != static_cast<int64_t>(m.sample_labels.size()) ||
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

Matrix<float> apply_weights(const LearnedDistance& model, FloatView points) {
  check_columns(model, points);
  require(model.form == "coordinates", "apply_weights is for weights of coordinates");
  for (const double w : model.weights)
    require(w >= 0, [&] { return fmt::format("a weight is {}, must be at least 0", w); });
  Matrix<float> weighted(points.rows(), points.cols());
  for (int64_t p = 0; p < points.rows(); ++p)
    for (int64_t t = 0; t < points.cols(); ++t)
      weighted(p, t) = static_cast<float>(points(p, t) * std::sqrt(model.weights[t]));
  return weighted;
}

Matrix<float> learned_costs(const LearnedDistance& model, FloatView a, FloatView b, int num_threads,
                            Monitor& monitor) {
  check_columns(model, a);
  check_columns(model, b);
  Matrix<float> costs(a.rows(), b.rows());
  const std::vector<CandidateDistance> candidates = candidates_of(model);
  parallel_for(a.rows(), kRowsPerTile, num_threads, [&](const Block& block) {
    if (monitor.should_stop()) return;
    const FloatView part = a.rows_between(block.begin, block.end);
    const MatrixView<float> out = costs.view().rows_between(block.begin, block.end);
    if (model.form == "coordinates") return coordinate_tile(model, part, b, out);
    distance_tile(model.weights, candidates, part, b, out);
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
    internal::check_distances(matrices[t], fmt::format("matrix {}", t));
    for (int64_t p = 0; p < costs.rows(); ++p)
      add(matrices[t].row(p), static_cast<float>(model.weights[t]), costs.cols(), costs.row(p));
  }
  return costs;
}

ExemplarResult fit_learned_exemplar(const LearnedDistance& model, FloatView points,
                                    ExemplarOptions options, Monitor& monitor) {
  use_model_penalty(model, options);
  const bool is_euclidean =
      model.form == "coordinates" &&
      std::all_of(model.weights.begin(), model.weights.end(), [](double w) { return w >= 0; });
  if (!is_euclidean) {
    const Matrix<float> costs = learned_costs(model, points, points, options.num_threads, monitor);
    return fit_costs(costs, options, monitor);
  }
  const Matrix<float> weighted = apply_weights(model, points);
  options.distance = Distance::SquaredEuclidean;
  ExemplarInput input;
  input.points = weighted;
  ExemplarResult result = fit_exemplar(input, options, monitor);
  // Their features would be taken for those of plain points: only the rows say what they are.
  result.model.exemplars = Matrix<float>();
  result.model.distance = "learned";
  return result;
}

ExemplarResult fit_learned_exemplar(const LearnedDistance& model,
                                    const std::vector<FloatView>& matrices, ExemplarOptions options,
                                    Monitor& monitor) {
  use_model_penalty(model, options);
  return fit_costs(learned_costs(model, matrices), options, monitor);
}

std::vector<int> classify_learned(const LearnedDistance& model, FloatView points, int num_threads,
                                  Monitor& monitor) {
  require(!model.samples.empty(),
          "the model has no training samples to compare with: it was learned from matrices");
  check_columns(model, points);
  std::vector<int> classes(points.rows(), 0);
  const std::vector<CandidateDistance> candidates = candidates_of(model);
  parallel_for(points.rows(), kRowsPerTile, num_threads, [&](const Block& block) {
    if (monitor.should_stop()) return;
    Matrix<float> costs(block.size(), model.samples.rows());
    const FloatView part = points.rows_between(block.begin, block.end);
    if (model.form == "coordinates")
      coordinate_tile(model, part, model.samples, costs);
    else
      distance_tile(model.weights, candidates, part, model.samples, costs);
    for (int64_t i = 0; i < block.size(); ++i) {
      const auto row = costs.row_span(i);
      classes[block.begin + i] =
          model.sample_labels[std::min_element(row.begin(), row.end()) - row.begin()];
    }
  });
  return classes;
}

}  // namespace milieu

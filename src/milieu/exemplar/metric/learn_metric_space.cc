// SPDX-License-Identifier: Apache-2.0
// The coordinates in which full metrics are fitted: the columns that are kept, or their square
// roots where a candidate compares histograms, each view scaled to the same total variance, on the
// leading principal components of all of them.
// Conventions: principal components come from at most kMaxPcaRows samples, evenly spread. A column
//   belongs to the first candidate that names it.
#include <algorithm>
#include <cmath>

#include "milieu/exemplar/learn/learn_internal.h"
#include "milieu/exemplar/metric/learn_metric_internal.h"
#include "milieu/linalg/pca.h"

namespace milieu::internal {

namespace {

constexpr int64_t kMaxRank = 256;
constexpr int64_t kMaxPcaRows = 1000;

bool compares_histograms(const CandidateDistance& candidate) {
  return candidate.distance == Distance::ChiSquared || candidate.distance == Distance::Intersection;
}

// Which columns make a view, and whether roots are taken of them.
struct View {
  int64_t first = 0, count = 0;
  bool is_root = false;
};
std::vector<View> views_of(const std::vector<CandidateDistance>& candidates,
                           const std::vector<char>& is_kept, int64_t columns) {
  std::vector<View> views;
  for (int64_t t = 0; candidates.empty() && t < columns; ++t)
    if (is_kept[t] != 0) views.push_back({t, 1, false});
  std::vector<char> is_used(columns, 0);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const CandidateDistance& c = candidates[i];
    if (is_kept[i] == 0) continue;
    const auto same = [&](const View& v) {
      return v.first == c.first_column && v.count == c.num_columns;
    };
    auto known = std::find_if(views.begin(), views.end(), same);
    const bool overlaps = std::any_of(is_used.begin() + c.first_column,
                                      is_used.begin() + c.first_column + c.num_columns,
                                      [](char used) { return used != 0; });
    if (known == views.end() && !overlaps)
      known = views.insert(views.end(), {c.first_column, c.num_columns, false});
    if (known == views.end()) continue;
    std::fill_n(is_used.begin() + c.first_column, c.num_columns, 1);
    known->is_root = known->is_root || compares_histograms(c);
  }
  return views;
}

float taken(float value, bool is_root) {
  return is_root ? std::sqrt(std::max(value, 0.0f)) : value;
}

// 1 / the root of the view's total variance over all samples; 0 where it does not vary.
double view_scale(const LearnInput& input, const View& view) {
  double total = 0;
  for (int64_t t = view.first; t < view.first + view.count; ++t) {
    double sum = 0, squares = 0, count = 0;
    for (const LearnSet& set : input.sets)
      for (int64_t p = 0; p < set.points.rows(); ++p) {
        const double value = taken(set.points(p, t), view.is_root);
        sum += value, squares += value * value, ++count;
      }
    total += std::max(0.0, squares / count - (sum / count) * (sum / count));
  }
  return total > 0 ? 1 / std::sqrt(total) : 0.0;
}

// Rows of all sets, evenly spread, their columns taken and scaled.
Matrix<float> pca_rows(const LearnInput& input, const std::vector<int64_t>& is_root,
                       const std::vector<double>& scale) {
  const int64_t total = total_samples(input);
  const int64_t stride = (total + kMaxPcaRows - 1) / kMaxPcaRows;
  Matrix<float> rows((total + stride - 1) / stride, std::ssize(scale));
  int64_t at = 0;
  for (const LearnSet& set : input.sets)
    for (int64_t p = 0; p < set.points.rows(); ++p, ++at)
      for (int64_t t = 0; at % stride == 0 && t < rows.cols(); ++t)
        rows(at / stride, t) =
            static_cast<float>(scale[t] * taken(set.points(p, t), is_root[t] != 0));
  return rows;
}

}  // namespace

MetricSpace make_metric_space(const LearnInput& input,
                              const std::vector<CandidateDistance>& candidates,
                              const std::vector<char>& is_kept, int num_threads,
                              const Monitor& monitor) {
  const int64_t columns = input.sets[0].points.cols();
  MetricSpace space;
  space.is_root.assign(columns, 0);
  std::vector<double> scale(columns, 0.0);
  for (const View& view : views_of(candidates, is_kept, columns)) {
    if (monitor.should_stop()) return space;
    const double factor = view_scale(input, view);
    std::fill_n(scale.begin() + view.first, view.count, factor);
    std::fill_n(space.is_root.begin() + view.first, view.count, view.is_root ? 1 : 0);
  }
  const Matrix<float> rows = pca_rows(input, space.is_root, scale);
  const int64_t varying = columns - std::count(scale.begin(), scale.end(), 0.0);
  const int64_t rank = std::clamp<int64_t>(varying, 1, std::min(rows.rows() - 1, kMaxRank));
  if (monitor.should_stop()) return space;
  const Pca pca = fit_pca(rows, static_cast<int>(rank));
  space.map = Matrix<float>(columns, rank);
  for (int64_t t = 0; t < columns; ++t)
    for (int64_t j = 0; j < rank; ++j)
      space.map(t, j) = static_cast<float>(scale[t] * pca.components(j, t));
  for (const LearnSet& set : input.sets)
    space.coordinates.push_back(
        metric_coordinates(space.map, space.is_root, set.points, num_threads));
  return space;
}

}  // namespace milieu::internal

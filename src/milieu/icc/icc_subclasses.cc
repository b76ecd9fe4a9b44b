// SPDX-License-Identifier: Apache-2.0
// Where the sub-classes of a classifier come from: ICC, a mixture of each class, or nowhere.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/classify/class_labels.h"
#include "milieu/icc/icc_classifier_internal.h"
#include "milieu/icc/icc_frame_internal.h"

namespace milieu {

namespace {

constexpr int kMixtureIterations = 30;

// "3", or one number per class: "1,3,2".
std::vector<int64_t> parse_em_count(const std::string& text, size_t num_classes) {
  std::vector<int64_t> counts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    int count = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, count);
    require(error == std::errc() && stop == text.data() + end && count >= 1, [&] {
      return fmt::format(
          "em_count is '{}', must be a whole number of at least 1, one per class such as 1,3,2, or "
          "icc",
          text);
    });
    counts.push_back(count);
    begin = end + 1;
  }
  if (counts.size() == 1) counts.assign(num_classes, counts[0]);
  require(counts.size() == num_classes, [&] {
    return fmt::format("em_count is '{}', must have 1 number or {}: one per class", text,
                       num_classes);
  });
  return counts;
}

Subclasses whole_classes(std::span<const int> classes, int num_classes) {
  Subclasses whole{{classes.begin(), classes.end()},
                   std::vector<int>(num_classes),
                   std::vector<int64_t>(num_classes, 1)};
  std::iota(whole.class_from_subclass.begin(), whole.class_from_subclass.end(), 0);
  return whole;
}

// The rows of one class of a matrix of coordinates.
Matrix<float> rows_of_class(const Matrix<double>& coordinates, std::span<const int> classes,
                            int own) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < classes.size(); ++i)
    if (classes[i] == own) rows.push_back(static_cast<int64_t>(i));
  Matrix<float> points(static_cast<int64_t>(rows.size()), coordinates.cols());
  for (int64_t r = 0; r < points.rows(); ++r)
    std::copy_n(coordinates.row(rows[r]), points.cols(), points.row(r));
  return points;
}

// Empty components are dropped: labels become 0, 1, ... of those in use. Returns how many.
int drop_empty(std::vector<int>& labels, int count) {
  std::vector<int> number(count, -1);
  for (const int label : labels) number[label] = 0;
  int used = 0;
  for (int& n : number)
    if (n == 0) n = used++;
  for (int& label : labels) label = number[label];
  return used;
}

// A Gaussian mixture of each class in the space of ICC's densities [Yu13, section 3.1].
Subclasses split_by_em(const IccClassifierInput& input, const IccClassifierOptions& options,
                       const Matrix<double>& coordinates, const std::vector<int64_t>& counts) {
  Subclasses out;
  out.labels.assign(input.points.rows(), 0);
  int first = 0;
  for (size_t c = 0; c < counts.size(); ++c) {
    const Matrix<float> points = rows_of_class(coordinates, input.classes, static_cast<int>(c));
    GmmOptions em;
    em.num_clusters = static_cast<int>(std::min<int64_t>(counts[c], points.rows()));
    em.covariance = GmmCovariance::Full;
    em.max_iterations = kMixtureIterations;
    em.init = options.init;
    em.regularization = 1e-4;
    em.seed = options.icc.seed;
    em.num_threads = options.icc.num_threads;
    std::vector<int> labels = em.num_clusters == 1 ? std::vector<int>(points.rows())
                                                   : fit_gmm({points, {}, {}}, em).labels;
    const int used = drop_empty(labels, em.num_clusters);
    size_t next = 0;
    for (size_t i = 0; i < input.classes.size(); ++i)
      if (input.classes[i] == static_cast<int>(c)) out.labels[i] = first + labels[next++];
    out.class_from_subclass.insert(out.class_from_subclass.end(), used, static_cast<int>(c));
    out.num_subclasses.push_back(used);
    first += used;
  }
  return out;
}

Subclasses from_icc(IccResult result) {
  // Sub-classes of ICC always have samples: small ones have joined others.
  Subclasses out{std::move(result.labels), result.model.class_from_subclass(), {}};
  out.num_subclasses.assign(result.model.subclasses.begin(), result.model.subclasses.end());
  return out;
}

Matrix<double> coordinates_of(const IccInput& input, const IccOptions& options, int num_classes) {
  if (options.projection == IccProjection::Isomap || options.projection == IccProjection::Lle)
    return map_to_manifold(
        fit_manifold(input.points,
                     {.kind = options.projection == IccProjection::Isomap ? ManifoldKind::Isomap
                                                                          : ManifoldKind::Lle,
                      .num_dims = options.num_dims,
                      .num_neighbors = options.manifold_neighbors,
                      .seed = options.seed,
                      .num_threads = options.num_threads})
            .model,
        input.points);
  IccOptions free = options;  // a mixture needs no grid: any number of dimensions will do
  free.climb = IccClimb::Free;
  const internal::Projection projection = internal::fit_projection(input, free, num_classes);
  IccModel model;
  model.axes = projection.axes;
  model.origin = projection.origin;
  return project(model, input.points);
}

Subclasses split_classes(const IccClassifierInput& input, const IccClassifierOptions& options,
                         Monitor& monitor) {
  const std::vector<int64_t> counts = count_classes(input.classes, input.points.rows());
  if (options.split == IccSplit::None)
    return whole_classes(input.classes, static_cast<int>(counts.size()));
  const IccInput samples{input.points, input.classes, {}, {}};
  if (options.split == IccSplit::Em && options.em_count != "icc") {
    const std::vector<int64_t> wanted = parse_em_count(options.em_count, counts.size());
    return split_by_em(input, options,
                       coordinates_of(samples, options.icc, static_cast<int>(counts.size())),
                       wanted);
  }
  IccResult result = fit_icc(samples, options.icc, monitor);
  if (options.split == IccSplit::Icc) return from_icc(std::move(result));
  return split_by_em(input, options, project(result.model, input.points),
                     {result.model.subclasses.begin(), result.model.subclasses.end()});
}

// Sub-classes without samples are dropped and the others renumbered.
void drop_empty(Subclasses& subclasses) {
  std::vector<int> number(subclasses.class_from_subclass.size(), -1);
  for (const int label : subclasses.labels) number[label] = 0;
  Subclasses kept{{}, {}, std::vector<int64_t>(subclasses.num_subclasses.size(), 0)};
  for (size_t s = 0; s < number.size(); ++s) {
    if (number[s] < 0) continue;
    number[s] = static_cast<int>(kept.class_from_subclass.size());
    kept.class_from_subclass.push_back(subclasses.class_from_subclass[s]);
    ++kept.num_subclasses[subclasses.class_from_subclass[s]];
  }
  for (const int label : subclasses.labels) kept.labels.push_back(number[label]);
  subclasses = std::move(kept);
}

// One round: true when a sample has moved.
bool move_samples(const IccClassifierInput& input, const IccClassifierOptions& options,
                  Subclasses& subclasses) {
  const IccClassifierModel model = internal::fit_on_subclasses(input, subclasses, options);
  const Matrix<double> scores =
      subclass_scores(model.classifier, project(model, input.points), options.icc.num_threads);
  bool has_moved = false;
  for (size_t i = 0; i < subclasses.labels.size(); ++i) {
    int best = subclasses.labels[i];
    for (int64_t s = 0; s < scores.cols(); ++s)
      if (subclasses.class_from_subclass[s] == input.classes[i] &&
          scores(static_cast<int64_t>(i), s) > scores(static_cast<int64_t>(i), best))
        best = static_cast<int>(s);
    has_moved |= best != subclasses.labels[i];
    subclasses.labels[i] = best;
  }
  drop_empty(subclasses);
  return has_moved;
}

}  // namespace

namespace internal {

void refine(const IccClassifierInput& input, const IccClassifierOptions& options,
            Subclasses& subclasses, Monitor& monitor) {
  for (int round = 0; round < options.refine && !monitor.should_stop(); ++round)
    if (!move_samples(input, options, subclasses)) break;
}

}  // namespace internal

Subclasses find_subclasses(const IccClassifierInput& input, const IccClassifierOptions& options,
                           Monitor& monitor) {
  Subclasses subclasses = split_classes(input, options, monitor);
  internal::refine(input, options, subclasses, monitor);
  return subclasses;
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/methods/icc_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <variant>

#include "milieu/base/error.h"
#include "milieu/classify/class_labels.h"
#include "milieu/classify/overlap.h"
#include "milieu/data/csv_text.h"
#include "milieu/icc/icc_compare.h"
#include "milieu/run/methods/icc_pictures.h"

namespace milieu {

namespace {

constexpr size_t kMaxPictures = 30;
constexpr size_t kMaxPictureRows = 200'000;  // pictures of more take longer than the fit

// Rows with a class, and their classes.
struct Labelled {
  Matrix<float> points;
  std::vector<int> classes;
  std::vector<int> groups;
};

Labelled labelled_rows(const IccRunInput& input) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < input.classes.size(); ++i)
    if (input.classes[i] >= 0) rows.push_back(static_cast<int64_t>(i));
  Labelled out{Matrix<float>(static_cast<int64_t>(rows.size()), input.points.cols()), {}, {}};
  for (size_t r = 0; r < rows.size(); ++r) {
    std::copy_n(input.points.row(rows[r]), input.points.cols(),
                out.points.row(static_cast<int64_t>(r)));
    out.classes.push_back(input.classes[rows[r]]);
    if (!input.groups.empty()) out.groups.push_back(input.groups[rows[r]]);
  }
  return out;
}

void require_classes(const IccRunInput& input, const IccRunOptions& options) {
  const bool needs = options.classifier.automatic || options.cv > 0 || options.holdout > 0;
  require(!needs || input.context.empty(),
          "auto, cv and holdout compare classes, but a context is for one set: leave it out");
  require(!needs || !input.classes.empty(),
          "auto, cv and holdout compare classes: give --labels or --label-column");
}

// Overlap of the classes in the space of the densities: one Gaussian per class, ICC's sub-classes,
// and as many components of a mixture.
void add_overlaps(RunSummary& summary, const IccResult& result, const Labelled& data,
                  const IccClassifierOptions& options, Monitor& monitor) {
  const Matrix<double> z = project(result.model, data.points);
  const std::vector<int> icc = predict(result.model, data.points, data.classes);
  IccClassifierOptions em = options;
  em.split = IccSplit::Em;
  em.em_count = "icc";
  em.init = GmmInit::KMeans;
  const Subclasses mixture = find_subclasses({data.points, data.classes}, em, monitor);
  if (monitor.should_stop()) return;
  const auto overlap = [&](const std::vector<int>& labels, const std::vector<int>& class_of) {
    return mean_overlap(fit_quadratic(z, labels, class_of));
  };
  summary.extra.emplace_back("overlap_before", overlap(data.classes, {}));
  summary.extra.emplace_back("overlap_icc", overlap(icc, result.model.class_from_subclass()));
  summary.extra.emplace_back("overlap_em", overlap(mixture.labels, mixture.class_from_subclass));
}

// A list of the summary; empty where there is none.
template <class Value>
std::vector<Value> extra_of(const RunSummary& summary, std::string_view name) {
  for (const auto& [key, value] : summary.extra)
    if (key == name) return std::get<std::vector<Value>>(value);
  return {};
}

// How sure the sub-classes are, after --bootstrap: one line each, and one per class.
std::string survival_text(const IccResult& result, const std::vector<std::string>& class_names) {
  const RunSummary& summary = result.summary;
  const auto persistence = extra_of<double>(summary, "persistence");
  const auto survival = extra_of<double>(summary, "survival");
  const auto noise = extra_of<double>(summary, "noise");
  const auto mean = extra_of<double>(summary, "mean_subclasses");
  const auto fewest = extra_of<int64_t>(summary, "fewest_subclasses");
  const auto most = extra_of<int64_t>(summary, "most_subclasses");
  if (survival.empty()) return "";
  std::string text = fmt::format("{:>9} {:>9} {:>12} {:>8} {:>9}\n", "sub-class", "samples",
                                 "persistence", "noise", "survival");
  size_t s = 0;
  for (size_t c = 0; c < mean.size(); ++c) {
    const int count = result.model.subclasses[c];
    for (int own = 0; own < count; ++own, ++s)
      text += fmt::format("{:>9} {:>9} {:>12.3f} {:>8.3f} {:>8.0f}%\n", s, summary.sizes[s],
                          persistence[s], noise[s], 100 * survival[s]);
    text += fmt::format("class {}: {} found; in resamples {:.1f} on average, {} to {} in 9 of 10\n",
                        c < class_names.size() ? class_names[c] : std::to_string(c), count, mean[c],
                        fewest[c], most[c]);
  }
  return text;
}

void add_comparison_of(RunOutcome& out, const Labelled& data, const IccRunOptions& options,
                       Monitor& monitor) {
  IccCompareOptions compare;
  compare.classifier = options.classifier;
  compare.cv = options.cv;
  compare.holdout = options.holdout;
  compare.repeat = options.repeat;
  const IccComparison table =
      compare_icc({data.points, data.classes, data.groups}, compare, monitor);
  out.text += comparison_text(table);
  add_comparison(table, out.summary);
  out.files.push_back({"comparison.csv", comparison_csv(table)});
}

// The samples in the space of the densities, then those of the context.
Matrix<double> picture_places(const IccRunInput& input, const IccModel& model) {
  Matrix<double> places =
      project(model, input.coordinates.empty() ? input.points : input.coordinates);
  if (input.context.empty()) return places;
  const Matrix<double> context = project(model, input.context);
  Matrix<double> all(places.rows() + context.rows(), places.cols());
  std::copy_n(places.data(), places.size(), all.data());
  std::copy_n(context.data(), context.size(), all.row(places.rows()));
  return all;
}

void add_pictures(RunOutcome& out, const IccRunInput& input, const IccResult& result,
                  Monitor& monitor) {
  const int64_t rows = input.points.rows() + input.context.rows();
  if (static_cast<size_t>(rows) > kMaxPictureRows || monitor.should_stop()) return;
  const Matrix<double> places = picture_places(input, result.model);
  std::vector<int> labels = result.labels;
  std::vector<int> classes(input.classes.begin(), input.classes.end());
  if (!input.context.empty()) {
    labels.resize(static_cast<size_t>(rows), -1);
    classes.assign(static_cast<size_t>(input.points.rows()), 0);
    classes.resize(static_cast<size_t>(rows), 1);
  }
  const std::vector<std::string> sides{"set", "context"};
  const std::span<const std::string> names = input.context.empty() ? input.class_names : sides;
  IccPictureInput picture{&result.model, places, labels, classes, names};
  const auto count = std::min(kMaxPictures, result.model.subclasses.size());
  for (size_t c = 0; c < count && !monitor.should_stop(); ++c)
    out.files.push_back(
        {fmt::format("class_{}.png", c), render_icc_class(picture, static_cast<int>(c))});
}

// The samples as each pipeline sees them.
void add_projections(RunOutcome& out, const Labelled& data, const IccClassifierOptions& options,
                     Monitor& monitor) {
  if (data.classes.size() > kMaxPictureRows || monitor.should_stop()) return;
  const std::vector<ScatterPanel> panels =
      icc_projections(data.points, data.classes, options, monitor);
  if (monitor.should_stop()) return;
  out.files.push_back({"projections.png", render_scatter_panels(panels, data.classes)});
}

}  // namespace

IccComparison compare_labelled(FloatView points, std::span<const int> classes,
                               std::span<const int> groups, const IccCompareOptions& options,
                               Monitor& monitor) {
  IccRunInput input;
  input.points = points;
  input.classes = classes;
  input.groups = groups;
  const Labelled data = labelled_rows(input);
  return compare_icc({data.points, data.classes, data.groups}, options, monitor);
}

std::string comparison_csv(const IccComparison& comparison) {
  CsvWriter table;
  table.row("method", "accuracy", "std", "p_value", "subclasses", "overlap", "seconds");
  if (comparison.num_trials == 0) return table.text();
  for (const IccCompareRow& row : comparison.rows)
    table.row(row.name, row.mean, row.deviation,
              comparison.is_complete() ? std::optional(row.p_value) : std::nullopt, row.subclasses,
              row.overlap, row.seconds);
  return table.text();
}

void add_comparison(const IccComparison& table, RunSummary& summary) {
  std::vector<std::string> names;
  std::vector<double> means, deviations, p_values;
  for (const IccCompareRow& row : table.rows) {
    names.push_back(row.name);
    means.push_back(row.mean);
    deviations.push_back(row.deviation);
    p_values.push_back(row.p_value);
  }
  if (table.num_trials > 0) {
    summary.extra.emplace_back("cv_methods", names);
    summary.extra.emplace_back("cv_accuracy", means);
    summary.extra.emplace_back("cv_std", deviations);
  }
  if (table.is_complete()) summary.extra.emplace_back("cv_p_value", p_values);
  summary.extra.emplace_back("cv_trials", int64_t{table.num_trials});
  if (table.is_complete()) return;
  summary.termination = table.termination;
  summary.message = "stopped early: the comparison has only the trials that were complete";
  summary.warnings.push_back(
      fmt::format("the comparison was stopped after {} of {} trials: its figures are of these "
                  "trials only, and there are no p-values",
                  table.num_trials, table.num_wanted));
}

void apply_paper_preset(IccClassifierOptions& options) {
  options.icc.grid = "600x200";
  options.icc.bandwidth = "25c";
  options.icc.window = 4;
  options.icc.climb = IccClimb::Gradient;
  options.icc.min_size = 1;
  options.shrinkage = 0;
  options.rule = IccRule::Best;
}

RunOutcome run_icc(const IccRunInput& input, const IccRunOptions& options, Monitor& monitor) {
  require_classes(input, options);
  IccRunOptions chosen = options;
  const bool has_classes = std::ranges::any_of(input.classes, [](int c) { return c >= 0; });
  const bool is_first = team_of(input).rank() == 0;  // the others only take part in the fit
  Labelled data;
  if (has_classes && (is_first || options.classifier.automatic)) data = labelled_rows(input);
  std::vector<std::pair<std::string, SummaryValue>> choice;
  if (options.classifier.automatic) {
    const IccClassifierChoice best =
        choose_icc_options({data.points, data.classes, data.groups}, options.classifier, monitor);
    chosen.classifier = best.options;
    choice = {{"chosen", best.text}};
    if (best.is_complete) choice.emplace_back("cross_validated_accuracy", best.accuracy);
  }
  IccOptions icc = chosen.classifier.icc;
  if (chosen.classifier.split == IccSplit::None) icc.min_size = 1 << 30;  // chosen: no split
  IccResult result = fit_icc(input, icc, monitor);
  RunOutcome out;
  if (!is_first) return out;
  const bool is_projected = input.coordinates.empty() && input.axes.empty();
  result.summary.extra.insert(result.summary.extra.end(), choice.begin(), choice.end());
  if (has_classes && is_projected && !monitor.should_stop())
    add_overlaps(result.summary, result, data, chosen.classifier, monitor);
  add_pictures(out, input, result, monitor);
  if (has_classes && is_projected) add_projections(out, data, chosen.classifier, monitor);
  out.text = survival_text(result, input.class_names);
  out.model = to_model_file(result.model);
  out.part_classes = result.model.class_from_subclass();
  out.labels = std::move(result.labels);
  out.summary = std::move(result.summary);
  if (options.cv > 0 || options.holdout > 0) add_comparison_of(out, data, options, monitor);
  return out;
}

}  // namespace milieu

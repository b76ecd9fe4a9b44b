// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/run_page.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/data/printable.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/report/by_image_internal.h"
#include "milieu/report/decision_card.h"
#include "milieu/report/page_json.h"
#include "milieu/report/static_report.h"

namespace milieu {

namespace {

using internal::Json;
using internal::PageLimits;
using internal::PageRun;

// Small images of the samples; none where a file is gone or cannot be read. `names`, paths below
// `root`, must outlive it.
MakeImage image_maker(const std::string& root, const std::vector<std::string>& names) {
  return [root, &names](int64_t row, int max_side) {
    RasterImage raster;
    try {
      const std::string& name = names.at(static_cast<size_t>(row));
      const Image image = load_image(root + "/" + name, {.max_side = max_side});
      raster = RasterImage(image.width, image.height, 3);
      raster.pixels = image.rgb;
    } catch (const Error&) {
      // the report is worth more than this image
    }
    return raster;
  };
}

// A column of floats as a matrix; empty when there is no such column.
Matrix<float> column_matrix(const std::vector<Column>& columns, const char* name) {
  for (const Column& column : columns)
    if (const auto* values = std::get_if<std::vector<float>>(&column.values);
        values && column.name == name) {
      Matrix<float> matrix(column.num_rows(), column.width);
      std::copy_n(values->data(), matrix.size(), matrix.data());
      return matrix;
    }
  return {};
}

// A sentence about images that can no longer be opened: the report has nothing in their place.
std::string lost_images(const RunOutcome& outcome) {
  if (outcome.image_root().empty()) return "";
  int64_t count = 0;
  std::string first;
  for (const std::string& name : outcome.samples().sample_names) {
    if (::access((outcome.image_root() + "/" + name).c_str(), R_OK) == 0) continue;
    if (count++ == 0) first = name;
  }
  if (count == 0) return "";
  return fmt::format(
      "{} of {} images cannot be opened, so that the report does not show them; the "
      "first: {}",
      count, outcome.samples().sample_names.size(), printable(first, 200));
}

std::string static_page(const RunOutcome& outcome, const RunSummary& summary) {
  const Dataset& samples = outcome.samples();
  ReportInput report;
  report.summary = &summary;
  report.options = outcome.options;
  report.points = samples.points.view();
  report.labels = outcome.labels;
  report.metrics = outcome.shows_truth && outcome.truth_metrics ? &*outcome.truth_metrics : nullptr;
  report.command = outcome.command;
  report.source = samples.source;
  if (const std::vector<float>* margins = find_reals(outcome.columns, "margins"))
    report.margins = *margins;
  const Matrix<float> decisions = column_matrix(outcome.columns, "decisions");
  const Matrix<float> context = column_matrix(outcome.columns, "context_decisions");
  if (!decisions.empty() && !context.empty())
    report.cards = render_decision_cards({decisions, outcome.labels, context});
  report.truth = outcome.truth.indices;
  report.class_names = outcome.truth.names;
  report.part_names = outcome.part_names;
  if (!outcome.image_root().empty())
    report.make_image = image_maker(outcome.image_root(), samples.sample_names);
  report.image_width = outcome.image_size.width;
  report.image_height = outcome.image_size.height;
  return render_report(report);
}

// The rows that a report holds: of the samples, then of the context.
struct ReportRows {
  std::vector<int64_t> samples, context;
};

ReportRows choose_rows(const RunOutcome& outcome, const PageLimits& limits) {
  const Dataset& samples = outcome.samples();
  const int64_t width = std::max<int64_t>(1, samples.points.cols());
  const int64_t most = std::clamp<int64_t>(limits.max_numbers / width, 1, limits.max_rows);
  ReportRows rows;
  rows.samples = internal::thinned(samples.points.rows(), most);
  const bool has_context =
      outcome.context && !outcome.units && outcome.context->points.cols() == samples.points.cols();
  if (has_context) rows.context = internal::thinned(outcome.context->points.rows(), most);
  return rows;
}

void add_names(const Dataset& data, const std::vector<int64_t>& rows, Dataset& out) {
  for (const int64_t row : rows) {
    const auto place = static_cast<size_t>(row);
    out.sample_names.push_back(!data.sample_names.empty()
                                   ? data.sample_names[place]
                                   : std::to_string(data.rows.empty() ? row : data.rows[place]));
  }
}

// Classes of further rows, under the names that are there already or new ones.
void add_classes(const Labels& labels, const std::vector<int64_t>& rows, Labels& out) {
  for (const int64_t row : rows) {
    const int index = labels.empty() ? -1 : labels.indices[static_cast<size_t>(row)];
    if (index < 0) {
      out.indices.push_back(-1);
      continue;
    }
    const std::string& name = labels.names[static_cast<size_t>(index)];
    const auto found = std::find(out.names.begin(), out.names.end(), name);
    out.indices.push_back(static_cast<int>(found - out.names.begin()));
    if (found == out.names.end()) out.names.push_back(name);
  }
}

Points joined_points(const Dataset& samples, const RunOutcome& outcome, const ReportRows& rows) {
  const Points own = samples.points.gather(rows.samples);
  if (rows.context.empty()) return own;
  const Points others = outcome.context->points.gather(rows.context);
  Matrix<float> all(own.rows() + others.rows(), own.cols());
  for (int64_t i = 0; i < own.rows(); ++i) std::copy_n(own.view().row(i), own.cols(), all.row(i));
  for (int64_t i = 0; i < others.rows(); ++i)
    std::copy_n(others.view().row(i), own.cols(), all.row(own.rows() + i));
  return Points(std::move(all));
}

// The rows that the report holds, as their own collection.
CollectionOptions report_collection(const RunOutcome& outcome, const ReportRows& rows) {
  const Dataset& samples = outcome.samples();
  CollectionOptions options;
  options.data.points = joined_points(samples, outcome, rows);
  options.data.source = samples.source;
  options.data.sample_shape = samples.sample_shape;
  add_names(samples, rows.samples, options.data);
  if (!rows.context.empty()) add_names(*outcome.context, rows.context, options.data);
  if (!outcome.truth.empty()) {
    options.data.labels.names = outcome.truth.names;
    add_classes(outcome.truth, rows.samples, options.data.labels);
    if (!rows.context.empty())
      add_classes(outcome.context->labels, rows.context, options.data.labels);
  }
  options.root = outcome.image_root();
  if (!outcome.units) options.feature = outcome.input.images.feature;
  options.image_width = outcome.image_size.width;
  options.image_height = outcome.image_size.height;
  return options;
}

// Keypoints were found in images of this size at most.
void set_keypoint_side(const SamplePlaces& places, CollectionOptions& options) {
  if (places.max_side > 0) options.keypoint_side = places.max_side;
}

// {"classes": [...]} of the classes that rows have; nothing where some have none.
Json classes_of(const Labels& labels, int64_t num_rows) {
  if (labels.empty() || static_cast<int64_t>(labels.indices.size()) != num_rows) return Json();
  std::vector<bool> is_used(labels.names.size());
  for (const int index : labels.indices) {
    if (index < 0) return Json();
    is_used[static_cast<size_t>(index)] = true;
  }
  Json names = Json::array();
  for (size_t c = 0; c < is_used.size(); ++c)
    if (is_used[c]) names.push_back(labels.names[c]);
  return {{"classes", std::move(names)}};
}

// What was split, as the page names it: classes where the rows are some of INPUT, else everything.
Json set_of(const RunOutcome& outcome) {
  const Dataset& samples = outcome.samples();
  const Json everything = {{"rest", true}};
  if (samples.rows.empty()) return everything;
  const Json classes = classes_of(outcome.truth, samples.points.rows());
  return classes.is_null() ? everything : classes;
}

// What it was split against: classes, else the file or folder.
Json context_of(const Dataset& context) {
  const Json classes = classes_of(context.labels, context.points.rows());
  if (!classes.is_null()) return classes;
  return {{"classes", {std::filesystem::path(context.source).filename().string()}}};
}

PageRun page_run(const RunOutcome& outcome) {
  PageRun run;
  run.id = "run";
  run.method = outcome.summary.method;
  run.command = outcome.command;
  run.summary = Json::parse(outcome.summary_json(), nullptr, false);
  run.n = static_cast<int64_t>(outcome.labels.size());
  run.ranks_contexts = run.summary.is_object() && run.summary.contains("contexts");
  run.request = {{"method", run.method}, {"set", set_of(outcome)}, {"options", Json::object()}};
  if (outcome.context && !run.ranks_contexts) run.request["context"] = context_of(*outcome.context);
  if (outcome.summary.termination == Termination::Cancelled) run.state = "cancelled";
  return run;
}

// Decision values of the context; its rows follow those of the samples.
void take_context(const RunOutcome& outcome, const ReportRows& rows, ViewColumns& columns) {
  const Matrix<float> values = column_matrix(outcome.columns, "context_decisions");
  const auto first = static_cast<int32_t>(rows.samples.size());
  for (size_t i = 0; i < rows.context.size(); ++i) {
    if (rows.context[i] >= values.rows()) return;
    columns.context_rows.push_back(first + static_cast<int32_t>(i));
    const float* row = values.row(rows.context[i]);
    columns.context_decisions.insert(columns.context_decisions.end(), row, row + values.cols());
  }
}

RunView view_of(const RunOutcome& outcome, const ReportRows& rows, const Collection& collection) {
  RunView view;
  for (const int64_t row : rows.samples) {
    view.columns.rows.push_back(static_cast<int32_t>(view.columns.rows.size()));
    view.columns.labels.push_back(outcome.labels[static_cast<size_t>(row)]);
  }
  for (const int label : outcome.labels)
    view.columns.num_parts = std::max(view.columns.num_parts, label + 1);
  take_decisions(outcome.columns, rows.samples, view.columns);
  take_context(outcome, rows, view.columns);
  view.contexts = ranked_contexts(outcome.columns, outcome.summary_json());
  complete_view(view, collection);
  take_names(outcome.part_names, view);
  for (const ResultFile& file : outcome.files)
    if (file.name == "weights.csv") view.weights = weights_of(file.content);
  return view;
}

std::string render_page(const RunOutcome& outcome, const WordView& words,
                        const SamplePlaces& places) {
  RunSummary summary = outcome.summary;
  const std::string lost = lost_images(outcome);
  if (!lost.empty()) summary.warnings.push_back(lost);
  const std::string page = static_page(outcome, summary);
  const int64_t n = outcome.samples().points.rows();
  if (n == 0 || n != static_cast<int64_t>(outcome.labels.size()) ||
      (!outcome.truth.empty() && static_cast<int64_t>(outcome.truth.indices.size()) != n))
    return page;
  const PageLimits limits;
  const ReportRows rows = choose_rows(outcome, limits);
  CollectionOptions options = report_collection(outcome, rows);
  set_keypoint_side(places, options);
  const Collection collection(std::move(options));
  RunView view = view_of(outcome, rows, collection);
  const bool has_all = n == static_cast<int64_t>(rows.samples.size());
  if (has_all) view.words = words;
  PageRun run = page_run(outcome);
  if (!lost.empty() && run.summary.is_object()) run.summary["warnings"].push_back(lost);
  Json data = internal::page_data(run, view, collection, limits);
  data["collection"]["total"] =
      n + static_cast<int64_t>(rows.context.empty() ? 0 : outcome.context->points.rows());
  internal::PageFiles files;
  for (const ResultFile& file : outcome.files) files.emplace_back(file.name, file.content);
  internal::add_page_files(files, data, limits);
  return internal::page_around(page, data);
}

}  // namespace

std::string render_run_page(const RunOutcome& run) {
  const std::optional<internal::RunByImage> images = internal::run_by_image(run);
  return render_page(images ? images->outcome : run, images ? images->words : WordView(),
                     run.input.places);
}

}  // namespace milieu

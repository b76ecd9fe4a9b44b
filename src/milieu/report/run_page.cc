// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/run_page.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "milieu/base/error.h"
#include "milieu/data/printable.h"
#include "milieu/feature/decode/decode.h"
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
  report.metrics = outcome.truth_metrics ? &*outcome.truth_metrics : nullptr;
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

// The rows that the report holds, as their own collection.
CollectionOptions report_collection(const RunOutcome& outcome, const std::vector<int64_t>& rows) {
  const Dataset& samples = outcome.samples();
  CollectionOptions options;
  options.data.points = samples.points.gather(rows);
  options.data.source = samples.source;
  options.data.sample_shape = samples.sample_shape;
  if (!outcome.truth.empty()) {
    options.data.labels.names = outcome.truth.names;
    for (const int64_t row : rows)
      options.data.labels.indices.push_back(outcome.truth.indices[static_cast<size_t>(row)]);
  }
  for (const int64_t row : rows) {
    const auto place = static_cast<size_t>(row);
    options.data.sample_names.push_back(
        !samples.sample_names.empty()
            ? samples.sample_names[place]
            : std::to_string(samples.rows.empty() ? row : samples.rows[place]));
  }
  options.root = outcome.image_root();
  if (!outcome.units) options.feature = outcome.input.images.feature;
  options.image_width = outcome.image_size.width;
  options.image_height = outcome.image_size.height;
  return options;
}

PageRun page_run(const RunOutcome& outcome) {
  PageRun run;
  run.id = "run";
  run.method = outcome.summary.method;
  run.command = outcome.command;
  run.summary = Json::parse(outcome.summary_json(), nullptr, false);
  run.n = static_cast<int64_t>(outcome.labels.size());
  run.request = {{"method", run.method}, {"set", {{"rest", true}}}, {"options", Json::object()}};
  if (outcome.summary.termination == Termination::Cancelled) run.state = "cancelled";
  return run;
}

RunView view_of(const RunOutcome& outcome, const std::vector<int64_t>& rows,
                const Collection& collection) {
  RunView view;
  for (const int64_t row : rows) {
    view.columns.rows.push_back(static_cast<int32_t>(view.columns.rows.size()));
    view.columns.labels.push_back(outcome.labels[static_cast<size_t>(row)]);
  }
  for (const int label : outcome.labels)
    view.columns.num_parts = std::max(view.columns.num_parts, label + 1);
  take_decisions(outcome.columns, rows, view.columns);
  complete_view(view, collection);
  take_names(outcome.part_names, view);
  for (const ResultFile& file : outcome.files)
    if (file.name == "weights.csv") view.weights = weights_of(file.content);
  return view;
}

}  // namespace

std::string render_run_page(const RunOutcome& outcome) {
  RunSummary summary = outcome.summary;
  const std::string lost = lost_images(outcome);
  if (!lost.empty()) summary.warnings.push_back(lost);
  const std::string page = static_page(outcome, summary);
  const int64_t n = outcome.samples().points.rows();
  if (n == 0 || n != static_cast<int64_t>(outcome.labels.size()) ||
      (!outcome.truth.empty() && static_cast<int64_t>(outcome.truth.indices.size()) != n))
    return page;
  const PageLimits limits;
  const int64_t width = std::max<int64_t>(1, outcome.samples().points.cols());
  const std::vector<int64_t> rows =
      internal::thinned(n, std::clamp<int64_t>(limits.max_numbers / width, 1, limits.max_rows));
  const Collection collection(report_collection(outcome, rows));
  const RunView view = view_of(outcome, rows, collection);
  PageRun run = page_run(outcome);
  if (!lost.empty() && run.summary.is_object()) run.summary["warnings"].push_back(lost);
  Json data = internal::page_data(run, view, collection, limits);
  data["collection"]["total"] = n;
  internal::PageFiles files;
  for (const ResultFile& file : outcome.files) files.emplace_back(file.name, file.content);
  internal::add_page_files(files, data, limits);
  return internal::page_around(page, data);
}

}  // namespace milieu

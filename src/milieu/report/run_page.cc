// SPDX-License-Identifier: Apache-2.0
#include "explorer_report.h"

#include <algorithm>
#include <cmath>

#ifdef MILIEU_HAS_EXPLORER
#include "milieu/dcp/dcp.h"
#include "serve/report_page.h"
#endif

namespace milieu::cli {

#ifdef MILIEU_HAS_EXPLORER

namespace {

// The rows that the report holds, as a collection of their own.
serve::CollectionOptions report_collection(const ExplorerReport& report,
                                           const std::vector<int64_t>& rows) {
  const Dataset& data = *report.data;
  serve::CollectionOptions options;
  options.data.points = data.points.gather(rows);
  options.data.source = data.source;
  options.data.sample_shape = data.sample_shape;
  if (!report.truth->empty()) {
    options.data.labels.names = report.truth->names;
    for (const int64_t row : rows)
      options.data.labels.indices.push_back(report.truth->indices[static_cast<size_t>(row)]);
  }
  for (const int64_t row : rows) {
    const auto place = static_cast<size_t>(row);
    options.data.sample_names.push_back(
        !data.sample_names.empty() ? data.sample_names[place]
                                   : std::to_string(data.rows.empty() ? row : data.rows[place]));
  }
  options.root = report.root;
  options.feature = report.feature;
  options.image_width = report.image_size.width;
  options.image_height = report.image_size.height;
  return options;
}

serve::RunRecord report_record(const ExplorerReport& report) {
  serve::RunRecord record;
  record.id = "run";
  record.method = report.method;
  record.command = report.command;
  record.summary = serve::Json::parse(report.summary_json, nullptr, false);
  record.n = static_cast<int64_t>(report.labels.size());
  record.request = {
      {"method", report.method}, {"set", {{"rest", true}}}, {"options", serve::Json::object()}};
  record.state = record.summary.value("termination", "") == "Cancelled" ? serve::RunState::Cancelled
                                                                        : serve::RunState::Done;
  return record;
}

void add_decisions(const ExplorerReport& report, FloatView points, serve::RunColumns& columns) {
  if (!report.model || report.model->kind != DcpModel::kKind) return;
  const auto model = from_model_file<DcpModel>(*report.model, "model");
  if (model.kernel == "precomputed") return;
  const Matrix<double> values = decision_values(model, points);
  columns.num_parts = static_cast<int>(values.cols());
  columns.decisions.assign(values.data(), values.data() + values.size());
  for (int64_t i = 0; i < values.rows() && values.cols() > 1; ++i) {
    const int label = columns.labels[static_cast<size_t>(i)];
    double other = -INFINITY;
    for (int c = 0; c < values.cols(); ++c)
      if (c != label) other = std::max(other, values(i, c));
    columns.margins.push_back(static_cast<float>(values(i, label) - other));
  }
}

}  // namespace

std::string with_explorer(std::string static_page, const ExplorerReport& report) {
  const int64_t n = report.data->points.rows();
  const bool has_classes = !report.truth->empty();
  if (n == 0 || n != static_cast<int64_t>(report.labels.size()) ||
      (has_classes && static_cast<int64_t>(report.truth->indices.size()) != n))
    return static_page;
  const serve::ReportLimits limits;
  const int64_t width = std::max<int64_t>(1, report.data->points.cols());
  const std::vector<int64_t> rows =
      serve::thinned(n, std::clamp<int64_t>(limits.max_numbers / width, 1, limits.max_rows));
  const serve::Collection collection(report_collection(report, rows));
  serve::RunResult result;
  serve::RunColumns& columns = result.columns;
  for (const int64_t row : rows) {
    columns.rows.push_back(static_cast<int32_t>(columns.rows.size()));
    columns.labels.push_back(report.labels[static_cast<size_t>(row)]);
  }
  for (const int label : report.labels) columns.num_parts = std::max(columns.num_parts, label + 1);
  const FloatView points = collection.data().points.view();
  add_decisions(report, points, columns);
  if (columns.margins.empty())
    columns.margins = serve::mean_margins(points, columns.rows, columns.labels, columns.num_parts);
  result.parts = serve::describe_parts(columns, collection);
  for (const auto& [name, content] : report.files)
    if (name == "weights.csv") result.weights = serve::weights_of(content);
  serve::Json data = serve::report_data(report_record(report), result, collection, limits);
  data["collection"]["total"] = n;
  serve::add_report_files(report.files, data, limits);
  return serve::report_page(static_page, data);
}

#else

std::string with_explorer(std::string static_page, const ExplorerReport&) { return static_page; }

#endif

}  // namespace milieu::cli

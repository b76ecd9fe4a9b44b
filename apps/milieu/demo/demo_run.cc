// SPDX-License-Identifier: Apache-2.0
#include "demo/demo_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "milieu/base/assert.h"
#include "milieu/render/report.h"
#include "milieu/store/json.h"
#include "milieu/store/run_folder.h"

namespace milieu::cli {

namespace {

void set_option(const std::vector<Field>& fields, const std::string& name,
                const std::string& value) {
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& candidate) { return candidate.name == name; });
  MILIEU_ASSERT(field != fields.end());  // a job of the table names an option that does not exist
  field->set_from_text(value);
}

}  // namespace

const std::vector<DemoJob>& demo_jobs() {
  static const std::vector<DemoJob> jobs = {
      {"kmeans", "shapes", {{"num_clusters", "8"}}},
      {"kmodes", "shapes_binary", {{"num_clusters", "8"}}},
      {"gmm", "shapes_pca", {{"num_clusters", "8"}, {"covariance", "full"}, {"num_restarts", "5"}}},
      {"ncut", "shapes", {{"num_clusters", "8"}}},
      {"meanshift", "shapes_pca", {{"quantile", "0.02"}}},
      {"agglomerative", "shapes", {{"num_clusters", "8"}}},
      {"kmedoids", "shapes", {{"num_clusters", "8"}}},
      {"exemplar", "shapes_pca", {{"num_clusters", "8"}}},
      {"kmeans", "rings", {{"num_clusters", "4"}}},
      {"gmm", "rings", {{"num_clusters", "4"}, {"covariance", "full"}, {"num_restarts", "5"}}},
      {"ncut", "rings", {{"num_clusters", "4"}}},
      {"meanshift", "rings", {{"quantile", "0.1"}}},
      {"agglomerative", "rings", {{"num_clusters", "4"}}},
      {"kmeans", "ell", {{"num_clusters", "2"}}},
      {"ncut", "ell", {{"num_clusters", "2"}}},
      {"dcp", "ell", {{"num_clusters", "2"}, {"loss", "hinge"}}, {{"context", "ell_context"}}},
  };
  return jobs;
}

DemoRun::DemoRun(const DemoJob& job, const std::vector<DemoFamily>& families,
                 const std::string& out, uint64_t seed, int num_threads)
    : job_(job),
      place_(find_demo_set(families, job.set)),
      method_(find_command(job.method)->make_method()),
      input_(std::make_unique<InputOptions>()) {
  const std::vector<Field> options = method_->option_fields();
  for (const auto& [name, value] : job.options) set_option(options, name, value);
  set_option(options, "seed", fmt::format("{}", seed));
  set_option(options, "num_threads", fmt::format("{}", num_threads));
  input_->path = fmt::format("{}/{}.npy", out, job.set);
  input_->labels = fmt::format("{}/{}", out, family().labels_file);
  if (family().holds_images(set()))
    input_->image_size = fmt::format("{0}x{0}", family().image_side);
  name_files(out);
  const std::unique_ptr<Method> defaults = find_command(job.method)->make_method();
  command_ = command_text(job.method, input_fields(), options, defaults->option_fields());
}

std::vector<Field> DemoRun::input_fields() const {
  std::vector<Field> fields = fields_of(*input_);
  for (Field& field : method_->file_fields()) fields.push_back(std::move(field));
  return fields;
}

std::vector<Field> DemoRun::result_option_fields() const {
  std::vector<Field> fields = method_->option_fields();
  std::erase_if(fields, [](const Field& field) { return field.name == "num_threads"; });
  return fields;
}

void DemoRun::name_files(const std::string& folder) const {
  for (const auto& [field, set] : job_.files)
    set_option(method_->file_fields(), field, fmt::format("{}/{}.npy", folder, set));
}

void DemoRun::fit(const std::string& workplace, Monitor& monitor) {
  if (!job_.files.empty()) {
    const std::string out = std::filesystem::path(input_->path).parent_path().string();
    name_files(workplace);
    RowFiles rows(set().data.source, set().data);
    method_->load_files(rows);
    name_files(out);
  }
  result_ = method_->fit(set().data, monitor);
  if (result_.model) result_.model->options_json = options_to_json(result_option_fields());
  metrics_ = compute_metrics(result_.labels, family().labels().indices);
}

void DemoRun::write(const std::string& folder) const {
  RunFolder run(folder, false);
  run.write_text("options.json",
                 run_options_to_json(job_.method, input_fields(), method_->option_fields()));
  run.write_text("summary.json", summary_to_json(result_.summary, &metrics_) + "\n");
  run.write_labels(result_.labels, {}, {});
  if (result_.model) run.write_model(*result_.model);
  for (const ResultFile& file : result_.files) run.write_file(file.name, file.content);
  ReportInput report;
  report.summary = &result_.summary;
  report.options = result_option_fields();
  report.points = set().data.points.view();
  report.labels = result_.labels;
  report.metrics = &metrics_;
  report.command = command_;
  report.source = set().data.source;
  report.margins = result_.margins;
  report.cards = result_.cards;
  report.truth = family().labels().indices;
  report.class_names = family().labels().names;
  if (family().image_side > 0) {
    report.image_width = report.image_height = family().image_side;
    report.images = family().sets[0].data.points.view();
  }
  run.write_text("report.html", render_report(report));
  run.commit();
}

const DemoRun* best_demo_run(const std::vector<DemoRun>& runs, const DemoFamily& family) {
  const DemoRun* best = nullptr;
  for (const DemoRun& run : runs)
    if (&run.family() == &family &&
        (best == nullptr || run.metrics().accuracy > best->metrics().accuracy))
      best = &run;
  return best;
}

}  // namespace milieu::cli

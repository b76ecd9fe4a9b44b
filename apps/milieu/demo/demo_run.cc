// SPDX-License-Identifier: Apache-2.0
#include "demo/demo_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/assert.h"
#include "milieu/report/write_run.h"
#include "milieu/run/run_options.h"

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
      // A plane set: the hard margin of the paper, as in its Figure 2.
      {"dcp",
       "ell",
       {{"num_clusters", "2"},
        {"loss", "hinge"},
        {"cost", "100"},
        {"cost_per", "sample"},
        {"bias", "1"},
        {"whiten", "none"}},
       {{"context", "ell_context"}}},
  };
  return jobs;
}

DemoRun::DemoRun(const DemoJob& job, const std::vector<DemoFamily>& families,
                 const std::string& out, uint64_t seed, int num_threads)
    : job_(job),
      place_(find_demo_set(families, job.set)),
      out_(out),
      run_(std::make_unique<Run>(job.method)) {
  const std::vector<Field> options = run_->option_fields();
  for (const auto& [name, value] : job.options) set_option(options, name, value);
  set_option(options, "seed", fmt::format("{}", seed));
  set_option(options, "num_threads", fmt::format("{}", num_threads));
  if (family().holds_images(set()))
    run_->input().image_size = fmt::format("{0}x{0}", family().image_side);
  name_files(out);
  command_ =
      command_text(job.method, run_->input_fields(), options, Run(job.method).option_fields());
}

void DemoRun::name_files(const std::string& folder) {
  run_->input().path = fmt::format("{}/{}.npy", folder, job_.set);
  run_->input().labels = fmt::format("{}/{}", folder, family().labels_file);
  for (const auto& [field, set] : job_.files)
    set_option(run_->input_fields(), field, fmt::format("{}/{}.npy", folder, set));
}

void DemoRun::fit(const std::string& workplace, Monitor& monitor) {
  name_files(workplace);
  run_->read(monitor);
  name_files(out_);  // what the run's files will be called
  outcome_ = run_->fit(monitor);
  outcome_.input.data.source = set().data.source;
  outcome_.truth = family().labels();
  metrics_ = compute_metrics(outcome_.labels, family().labels().indices);
  outcome_.truth_metrics = metrics_;
}

void DemoRun::write(const std::string& folder) const { write_run(outcome_, folder); }

const DemoRun* best_demo_run(const std::vector<DemoRun>& runs, const DemoFamily& family) {
  const DemoRun* best = nullptr;
  for (const DemoRun& run : runs)
    if (&run.family() == &family &&
        (best == nullptr || run.metrics().accuracy > best->metrics().accuracy))
      best = &run;
  return best;
}

}  // namespace milieu::cli

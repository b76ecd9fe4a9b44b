// SPDX-License-Identifier: Apache-2.0
#include "demo/demo_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "commands/learn_distance.h"
#include "milieu/base/assert.h"
#include "milieu/report/write_run.h"
#include "milieu/run/run_options.h"

namespace milieu::cli {

namespace {

constexpr const char* kLearned = "runs/exemplar-learned";  // in the demo's folder

void set_option(const std::vector<Field>& fields, const std::string& name,
                const std::string& value) {
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& candidate) { return candidate.name == name; });
  MILIEU_ASSERT(field != fields.end());  // a job names an option that does not exist
  field->set_from_text(value);
}

// Both files of X.npy:labels.csv in `folder`.
std::string train_in(const std::string& folder, const std::string& train) {
  const size_t colon = train.find(':');
  return fmt::format("{0}/{1}:{0}/{2}", folder, train.substr(0, colon), train.substr(colon + 1));
}

// False when it was stopped before there was a distance.
bool learn_once(const std::string& train, const DemoPlace& place, Monitor& monitor) {
  const std::string folder = fmt::format("{}/{}", place.workplace, kLearned);
  if (std::filesystem::exists(folder)) return true;
  LearnJob job;
  job.files.train = train_in(place.workplace, train);
  job.options.train.num_threads = place.num_threads;
  LearnedJob learned = learn_distance(read_training(job, monitor), job, monitor);
  if (learned.result.rounds.empty()) return false;
  job.files.train = learned.train.sets[0].name = train_in(place.out, train);
  write_learned(job, learned, folder, false);
  return true;
}

}  // namespace

DemoRun::DemoRun(const DemoJob& job, const DemoStory& story, const DemoPlace& place)
    : job_(&job), story_(&story), place_(place), run_(std::make_unique<Run>(job.method)) {
  const std::vector<Field> options = run_->option_fields();
  for (const auto& [name, value] : job.options) set_option(options, name, value);
  set_option(options, "seed", fmt::format("{}", place.seed));
  set_option(options, "num_threads", fmt::format("{}", place.num_threads));
  run_->input().feature = job.feature;
  if (set().image_side > 0 && !set().is_folder)
    run_->input().image_size = fmt::format("{0}x{0}", set().image_side);
  name_files(place.out);
  command_ =
      command_text(job.method, run_->input_fields(), options, Run(job.method).option_fields());
}

void DemoRun::name_files(const std::string& folder) {
  const auto file = [&](const std::string& name) { return fmt::format("{}/{}", folder, name); };
  InputSpec& input = run_->input();
  input.path = file(job_->set + (set().is_folder ? "" : ".npy"));
  if (const DemoTruth* truth = find_truth(set(), job_->truth))
    input.truth = file(truth_file(set(), *truth));
  if (!job_->vectors.empty()) input.vectors = file(job_->vectors);
  if (const DemoTruth* classes = find_truth(set(), job_->classes))
    input.labels = file(truth_file(set(), *classes));
  for (const auto& [field, name] : job_->files) set_option(run_->input_fields(), field, file(name));
  name_model(folder);
}

// The learned distance, which is read by the fit.
void DemoRun::name_model(const std::string& folder) {
  if (!job_->learn_from.empty())
    set_option(run_->input_fields(), "model", fmt::format("{}/{}", folder, kLearned));
}

void DemoRun::fit(Monitor& monitor) {
  if (!job_->learn_from.empty() && !learn_once(job_->learn_from, place_, monitor)) return;
  name_files(place_.workplace);
  run_->read(monitor);
  name_files(place_.out);  // what the run's files will be called
  name_model(place_.workplace);
  outcome_ = run_->fit(monitor);
  name_model(place_.out);
  outcome_.options_json =
      run_options_to_json(job_->method, run_->input_fields(), run_->option_fields());
  outcome_.command = command_;
  const std::string source = std::filesystem::path(run_->input().path).filename();
  outcome_.input.data.source = source;
  if (outcome_.units) outcome_.units->source = source;
  for (const DemoTruth& truth : set().truths)
    if (job_->answers.empty() || truth.name == job_->answers)
      metrics_.emplace_back(truth.name, compute_metrics(outcome_.labels, truth.labels.indices));
  if (job_->word_truth.empty() || outcome_.labels.empty()) return;
  metrics_.emplace_back(
      job_->word_truth,
      compute_metrics(words(), find_truth(set(), job_->word_truth)->labels.indices));
}

std::span<const int> DemoRun::words() const {
  const std::vector<int32_t>* words = find_wholes(outcome_.columns, "words");
  MILIEU_ASSERT(words != nullptr);  // a run whose job has no words
  return *words;
}

void DemoRun::write() const {
  write_run(outcome_, fmt::format("{}/runs/{}", place_.workplace, name()));
}

const Metrics* DemoRun::metrics(const std::string& truth) const {
  for (const auto& [name, metrics] : metrics_)
    if (name == truth) return &metrics;
  return nullptr;
}

double best_accuracy(const std::vector<DemoRun>& runs, const DemoStory& story,
                     const std::string& truth) {
  double best = 0;
  for (const DemoRun& run : runs)
    if (&run.story() == &story && run.metrics(truth) != nullptr)
      best = std::max(best, run.metrics(truth)->accuracy);
  return best;
}

}  // namespace milieu::cli

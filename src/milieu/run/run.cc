// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/base/summary.h"
#include "milieu/data/format/npy_folder.h"
#include "milieu/input/training.h"
#include "milieu/metrics/metrics.h"
#include "milieu/run/part_naming.h"
#include "milieu/run/run_options.h"
#include "milieu/run/shard_files.h"
#include "milieu/store/json.h"

namespace milieu {

namespace {

const MethodEntry& require_method(const std::string& name) {
  if (const MethodEntry* entry = find_method(name)) return *entry;
  std::vector<std::string> names;
  for (const MethodEntry& entry : methods()) names.push_back(entry.name);
  throw InvalidArgument(
      fmt::format("method is '{}', must be one of {}", name, fmt::join(names, ", ")));
}

void set_field(const std::vector<Field>& fields, const std::string& name, const FieldValue& value,
               const std::string& method) {
  for (const Field& field : fields)
    if (field.name == name) return field.set(value);
  throw InvalidArgument(fmt::format("{} has no option or input '{}'", method, name));
}

// What tells a matrix from another at little cost: its shape and up to 64 of its rows.
std::string identity_of(FloatView points) {
  constexpr int64_t kRows = 64;
  uint64_t hash = kHashStart;
  const int64_t count = std::min(kRows, points.rows());
  for (int64_t s = 0; s < count; ++s) {
    const std::span<const float> row = points.row_span(s * points.rows() / count);
    hash = hash_text({reinterpret_cast<const char*>(row.data()), row.size_bytes()}, hash);
  }
  return fmt::format("{} x {}, {}", points.rows(), points.cols(), hex(hash));
}

}  // namespace

Run::Run(const std::string& method) : Run(require_method(method)) {}

Run::Run(const MethodEntry& method) : entry_(method), method_(method.make()) {}

Run::~Run() = default;

std::vector<Field> Run::input_fields() {
  std::vector<Field> fields = fields_of(spec_);
  for (Field& field : fields_of(describe_)) fields.push_back(std::move(field));
  for (Field& field : method_->files().fields()) fields.push_back(std::move(field));
  for (Field& field : method_->own_fields()) fields.push_back(std::move(field));
  return fields;
}

// The options that the result depends on: all but the number of threads.
std::vector<Field> Run::result_option_fields() {
  std::vector<Field> fields = method_->option_fields();
  std::erase_if(fields, [](const Field& field) { return field.name == "num_threads"; });
  return fields;
}

void Run::set_ranks(Communicator& ranks) {
  if (ranks.size() > 1 && !entry_.shares_rows) {
    std::vector<std::string> names;
    for (const MethodEntry& entry : methods())
      if (entry.shares_rows) names.push_back(entry.name);
    throw InvalidArgument(fmt::format("{} runs on one rank, here are {}; several ranks can run {}",
                                      entry_.name, ranks.size(), fmt::join(names, ", ")));
  }
  method_->set_ranks(ranks);
  spec_.allow_non_finite = ranks.size() > 1;  // each looks at its own rows
}

void Run::apply_preset(const std::string& name) {
  std::vector<std::string> known;
  for (const Preset& preset : method_->presets()) {
    if (preset.name == name) return preset.apply(spec_);
    known.push_back(preset.name);
  }
  throw InvalidArgument(
      known.empty() ? fmt::format("{} has no presets", entry_.name)
                    : fmt::format("preset is '{}', must be {}", name, fmt::join(known, " or ")));
}

void Run::read_options(const std::string& path) {
  read_run_options(path, entry_.name, input_fields(), method_->option_fields());
}

void Run::validate() {
  if (method_->takes_input() && spec_.path.empty())
    throw InvalidArgument(
        "INPUT is missing: give the file to cluster, or an earlier run with --options");
  if (!method_->takes_input() && !spec_.path.empty())
    throw InvalidArgument(fmt::format(
        "INPUT is {}, but another flag already says what to cluster: leave one of them out",
        spec_.path));
  validate_fields(method_->option_fields());
  parse_image_size(spec_.image_size);
}

void Run::read(Monitor& monitor) {
  monitor.on_stage(RunStage::Reading, spec_.path);
  loaded_ = method_->read(spec_, monitor);
  binder_ = std::make_unique<InputBinder>(loaded_, method_->files(), monitor);
  method_->bind(*binder_);
  truth_ = method_->read_truth(*binder_, spec_.truth);
  check_ranks();
  image_size_ = image_size_of(loaded_.data, spec_.image_size);
  if (!describe_.describe.empty() || !describe_.label_names.empty())
    naming_ =
        std::make_unique<PartNaming>(describe_, spec_.path, loaded_, binder_->samples("context"),
                                     method_->num_threads(), monitor);
}

// Ranks that read different files would go on to a wrong result in silence.
void Run::check_ranks() {
  Communicator& ranks = method_->ranks();
  if (ranks.size() == 1) return;
  check_same_everywhere(ranks, "the program's version", version());
  check_same_everywhere(ranks, "the command's options",
                        run_options_to_json(entry_.name, input_fields(), result_option_fields()));
  check_same_everywhere(ranks, spec_.path,
                        is_npy_folder(spec_.path) ? open_npy_folder(spec_.path).manifest
                                                  : identity_of(loaded_.data.points.view()));
  check_same_everywhere(ranks, spec_.path, identity_of(loaded_.patches.patches.view()));
}

RunOutcome Run::fit(Monitor& monitor) {
  monitor.on_stage(RunStage::Fitting, entry_.name);
  RunOutcome out = method_->fit(loaded_, monitor);
  return method_->ranks().rank() > 0 ? std::move(out) : completed(std::move(out), monitor);
}

ShardProgress Run::fit_shard(const Shard& shard, const std::string& folder, Monitor& monitor) {
  monitor.on_stage(RunStage::Fitting, entry_.name);
  return method_->fit_shard(loaded_, shard, make_shard_file(folder, shard), monitor);
}

RunOutcome Run::merge(const std::string& folder, Monitor& monitor) {
  monitor.on_stage(RunStage::Fitting, entry_.name);
  return completed(method_->merge_shards(loaded_, find_shard_files(folder), monitor), monitor);
}

// With what every run has beside the outcome of its method.
RunOutcome Run::completed(RunOutcome out, Monitor& monitor) {
  if (out.model) {
    out.model->options_json = options_to_json(result_option_fields());
    add_training(loaded_.images, *out.model);
  }
  out.summary.warnings.insert(out.summary.warnings.end(), loaded_.warnings.begin(),
                              loaded_.warnings.end());
  if (naming_) naming_->apply(out, monitor);
  if (!truth_.empty()) out.truth_metrics = compute_metrics(out.labels, truth_.indices);
  out.shows_truth = out.truth_metrics && out.truth_metrics->num_classes > 1 &&
                    (out.part_classes.empty() || !spec_.truth.empty());
  out.truth = std::move(truth_);
  if (!out.units) out.image_size = image_size_;
  out.options_json = run_options_to_json(entry_.name, input_fields(), method_->option_fields());
  const std::unique_ptr<Method> defaults = entry_.make();
  out.command = command_text(entry_.name, input_fields(), method_->option_fields(),
                             defaults->option_fields());
  out.new_input = loaded_.images.root.empty() ? method_->new_input_text() : "FOLDER";
  out.options = result_option_fields();
  out.keep_alive = method_;
  out.input = std::move(loaded_);
  return out;
}

RunOutcome execute(const RunSpec& spec, Monitor& monitor) {
  Run run(spec.method);
  run.input() = spec.input;
  run.describe() = spec.describe;
  const auto set_all = [&] {
    for (const auto& [name, path] : spec.files)
      set_field(run.input_fields(), name, path, spec.method);
    for (const auto& [name, value] : spec.options)
      set_field(run.option_fields(), name, value, spec.method);
  };
  set_all();
  if (!spec.preset.empty()) {
    run.apply_preset(spec.preset);
    set_all();  // what is given overrides the preset
  }
  run.validate();
  run.read(monitor);
  if (spec.time_limit <= 0) return run.fit(monitor);
  if (&monitor != &silent_monitor()) {
    monitor.set_time_limit(spec.time_limit);
    return run.fit(monitor);
  }
  Monitor own;  // the silent one is shared by all
  own.set_time_limit(spec.time_limit);
  return run.fit(own);
}

}  // namespace milieu

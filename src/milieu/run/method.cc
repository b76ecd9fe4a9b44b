// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/method.h"

#include "milieu/base/error.h"

namespace milieu {

std::string RunOutcome::summary_json() const {
  return summary_to_json(summary, truth_metrics ? &*truth_metrics : nullptr, metrics, part_names);
}

Labels Method::read_truth(const InputBinder& binder, const std::string& path) {
  return path.empty() ? binder.rows().data().labels : binder.rows().labels(path);
}

InputFiles& Method::files() {
  if (!files_) files_ = std::make_unique<InputFiles>(inputs());
  return *files_;
}

int Method::num_threads() {
  for (const Field& field : option_fields())
    if (field.name == "num_threads") return static_cast<int>(std::get<int64_t>(field.get()));
  return 0;
}

// Only reached where has_shards() is true, which goes with a fit_shard of its own.
ShardProgress Method::fit_shard(const Input&, const Shard&, const std::string&, Monitor&) {
  throw InvalidArgument("the method has no shards: run it as a whole");
}

RunOutcome Method::merge_shards(const Input&, const std::vector<std::string>&, Monitor&) {
  throw InvalidArgument("the method has no shards: run it as a whole");
}

}  // namespace milieu

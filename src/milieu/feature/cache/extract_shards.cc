// SPDX-License-Identifier: Apache-2.0
// An extraction in shards. Each works as a whole run does, on its own images and beside the
// folder's files; the merge takes what they appended as if it had been appended here, and finishes
// the folder in the same way. shard_job_internal.h has the files.
#include <fmt/format.h>

#include <filesystem>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/feature/cache/extraction_internal.h"
#include "milieu/feature/opencv_internal.h"

namespace milieu {
namespace internal {

namespace fs = std::filesystem;

std::string Extraction::part_path(const std::string& name) const {
  return options_.shard ? shard_file(out_, *options_.shard, name) : hidden(out_, name);
}

ShardJob Extraction::shard_job() const {
  ShardJob job{.count = options_.shard->count,
               .source = images_.root,
               .absolute_source = absolute_source_,
               .images = images_,
               .features = {},
               .patches = options_.patches,
               .decode = options_.decode};
  for (const FeatureSpec& spec : specs_)
    job.features.push_back(to_text(const_cast<FeatureSpec&>(spec)));  // only reads
  return job;
}

RowKeys Extraction::row_keys() const {
  RowKeys keys;
  for (const FeatureTask& task : tasks_) keys[task.spec.id] = {task.key, task.patches_key};
  return keys;
}

// Words are learned by the first shard, while the others wait. False when stopped.
bool Extraction::prepare_shard() {
  const bool is_prepared = fs::exists(shard_file(out_, "keys.json"));
  FileLock lock(shard_file(out_, "lock"), is_prepared ? LockKind::Shared : LockKind::Exclusive);
  if (!lock.wait(monitor_)) return false;
  agree_on_job(out_, shard_job());
  if (!prepare_tasks()) return false;
  for (FeatureTask& task : tasks_)
    if (task.sample) task.sample->flush();
  agree_on_keys(out_, row_keys());
  return true;
}

void Extraction::run_shard() {
  require(options_.vocabulary_folder.empty(),
          "vocabulary_folder and shard are both set: describe new images in one run");
  fs::create_directories(hidden(out_, "shards"));
  FileLock own(part_path("lock"), LockKind::Exclusive);
  if (!take(own))
    throw IoError(fmt::format("another process is making shard {} of {}: wait for it",
                              options_.shard->text(), out_));
  main_index_ = std::make_unique<FileIndex>(hidden(out_, "files"));
  index_ = std::make_unique<FileIndex>(part_path("files"));
  read_recorded();
  list_items();
  find_known();
  add_recorded_specs();
  find_damage();
  result_.is_complete = prepare_shard();
  if (!result_.is_complete) return;
  const std::vector<int64_t> todo = missing();
  if (!todo.empty()) fs::remove(part_path("done"));
  result_.is_complete = process(todo);
  if (result_.is_complete) finish_shard();
}

void Extraction::finish_shard() {
  rows_of_items();
  std::vector<ImageFolder::Skipped> skipped;
  for (const auto& [path, reason] : errors_) skipped.push_back({path, reason});
  write_shard_done(out_, *options_.shard, skipped);
}

// What a shard found out about its images.
void Extraction::take_states(const Shard& shard) {
  shard_indices_.push_back(std::make_unique<FileIndex>(shard_file(out_, shard, "files")));
  const FileIndex& states = *shard_indices_.back();
  const auto n = static_cast<int64_t>(items_.size());
  for (int64_t i = shard.begin(n); i < shard.end(n); ++i) {
    ImageItem& item = items_[static_cast<size_t>(i)];
    item.known = states.find_earlier(item.path);
    if (!item.known) item.known = index_->find_earlier(item.path);
  }
  for (const ImageFolder::Skipped& one : read_shard_done(out_, shard))
    errors_[one.path] = one.reason;
}

void Extraction::take_parts(const Shard& shard) {
  for (FeatureTask& task : tasks_) {
    const std::string& id = task.spec.id;
    task.rows->take_part(shard_file(out_, shard, id));
    if (task.patches) task.patches->take_part(shard_file(out_, shard, id + ".patches"));
  }
}

void Extraction::check_complete(int num_shards) const {
  int64_t num_lost = 0, first = -1;
  for (const int64_t i : missing()) {
    if (errors_.contains(items_[static_cast<size_t>(i)].path)) continue;
    if (num_lost++ == 0) first = i;
  }
  if (num_lost == 0) return;
  Shard shard{1, num_shards};
  while (!shard.has(first, std::ssize(items_))) ++shard.index;
  throw DataError(fmt::format(
      "{} of the shards of {} lost to damage, the first in shard {}: run that shard "
      "again, then merge",
      counted(num_lost, "image"), out_ + (num_lost == 1 ? " is" : " are"), shard.text()));
}

// The folder's own index learns what the shards found out, in the order of the listing.
void Extraction::keep_states() {
  for (const ImageItem& item : items_) {
    if (!item.known) continue;
    const FileState* kept = index_->find(item.path, item.known->stamp);
    if (!kept) index_->append(item.path, *item.known);
  }
}

ExtractResult Extraction::merge(const ShardJob& job) {
  const Stopwatch watch;
  quiet_opencv();
  FileLock lock(hidden(out_, "lock"), LockKind::Exclusive);
  if (!take(lock))
    throw IoError(fmt::format("a shard of {} is still running: wait for it, then merge", out_));
  check_shards_done(out_, job.count);
  remove_leftovers(out_);
  absolute_source_ = job.absolute_source;
  index_ = std::make_unique<FileIndex>(hidden(out_, "files"));
  read_recorded();
  list_items();
  for (int index = 1; index <= job.count; ++index) take_states({index, job.count});
  add_recorded_specs();
  find_damage();
  result_.is_complete = prepare_tasks();
  if (!result_.is_complete) return std::move(result_);
  agree_on_keys(out_, row_keys());
  for (int index = 1; index <= job.count; ++index) take_parts({index, job.count});
  check_complete(job.count);
  keep_states();
  finish();
  discard_samples();
  remove_shards(out_);
  result_.seconds = watch.seconds();
  return std::move(result_);
}

}  // namespace internal

ExtractResult merge_features(const std::string& out, const ExtractOptions& options,
                             Monitor& monitor) {
  const internal::ShardJob job = internal::read_shard_job(out);
  std::vector<FeatureSpec> specs;
  for (const std::string& feature : job.features) specs.push_back(parse_feature(feature));
  ExtractOptions own;
  own.decode = job.decode;
  own.patches = job.patches;
  own.num_threads = options.num_threads;
  own.waits = options.waits;
  own.read_codebook = options.read_codebook;
  return internal::Extraction(job.images, std::move(specs), out, own, monitor).merge(job);
}

}  // namespace milieu

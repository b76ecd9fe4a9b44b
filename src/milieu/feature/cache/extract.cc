// SPDX-License-Identifier: Apache-2.0
// The life of an extraction: what is known -> what is missing -> vocabulary -> images, appended
// one by one -> finished files. Until the last step nothing that was there before is touched.
// extract_shards.cc has the same life in shards.
#include "milieu/feature/cache/extract.h"

#include <fmt/format.h>

#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/feature/cache/extraction_internal.h"
#include "milieu/feature/cache/in_order_internal.h"
#include "milieu/feature/opencv_internal.h"

namespace milieu {
namespace internal {

namespace fs = std::filesystem;

namespace {

std::string options_json(FeatureSpec& spec) {
  std::string text;
  for (const Field& field : spec.fields()) {
    const FieldValue kept = field.get();
    std::string value = to_text(kept);
    if (std::holds_alternative<std::string>(kept)) {  // a number may be a word: auto
      std::string quoted;
      for (const char c : value)
        quoted += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
      value = "\"" + quoted + "\"";
    }
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", field.name, value);
  }
  return "{" + text + "}";
}

[[noreturn]] void throw_locked(const std::string& out) {
  throw IoError(
      fmt::format("another run is writing to {}: wait for it, or choose another folder", out));
}

}  // namespace

void Extraction::read_recorded() {
  try {
    FolderRecord record = read_features_json(out_ + "/features.json");
    recorded_rows_ = read_images_csv(out_ + "/images.csv");
    if (hash_text(images_csv(recorded_rows_)) == record.images) record_ = std::move(record);
  } catch (const Error&) {
    // not finished, or no longer ours: made again
  }
  if (!record_) recorded_rows_.clear();
}

void Extraction::list_items() {
  items_.resize(images_.paths.size());
  for (size_t i = 0; i < items_.size(); ++i) {
    ImageItem& item = items_[i];
    item.path = images_.paths[i];
    const int label = images_.labels.empty() ? -1 : images_.labels.indices[i];
    if (label >= 0) item.class_name = images_.labels.names[label];
  }
}

// What is known of the images. A shard asks for its own alone, unless a finished folder is brought
// up to date: whether all of its images are the same decides what there is to do.
void Extraction::find_known() {
  const auto n = static_cast<int64_t>(items_.size());
  for (int64_t i = record_ ? 0 : begin(); i < (record_ ? n : end()); ++i) {
    ImageItem& item = items_[static_cast<size_t>(i)];
    item.now = stamp_of(images_.root + "/" + item.path);
    for (const FileIndex* index : {index_.get(), main_index_.get()}) {
      if (index == nullptr) continue;
      if (!item.known && !options_.verify) item.known = index->find(item.path, item.now);
      if (!item.earlier) item.earlier = index->find_earlier(item.path);
    }
  }
}

// A damaged file is made again: from the rows that are intact, or from the images.
void Extraction::find_damage() {
  if (!record_) return;
  for (const FeatureSpec& spec : specs_) {
    const FeatureRecord* before = recorded(spec.id);
    if (!before) continue;
    for (const std::string& name : damaged_files(out_, *before)) {
      damaged_[spec.id].insert(name);
      result_.warnings.push_back(
          fmt::format("{}/{} was damaged or changed and is made again", out_, name));
    }
  }
}

bool Extraction::is_intact(const FeatureRecord& feature, const StoreFiles& files) const {
  const auto found = damaged_.find(feature.id);
  if (found == damaged_.end()) return true;
  for (const std::string& path : files.all())
    if (found->second.contains(name_in(out_, path))) return false;
  return true;
}

bool Extraction::is_listing_unchanged() const {
  size_t row = 0;
  for (const ImageItem& item : items_) {
    if (!item.known) return false;
    if (!item.known->error.empty()) continue;
    if (row >= recorded_rows_.size()) return false;
    const ImageRow& recorded = recorded_rows_[row++];
    if (recorded.path != item.path || recorded.hash != item.known->hash ||
        recorded.class_name != item.class_name)
      return false;
  }
  return row == recorded_rows_.size();
}

// Features of the folder that were not requested this time: left alone when the images are the
// same, else brought up to date with the others, since all have the rows of one images.csv.
void Extraction::add_recorded_specs() {
  if (!record_) return;
  const bool is_same = is_listing_unchanged() && record_->max_side == options_.decode.max_side;
  for (const FeatureRecord& feature : record_->features) {
    const bool is_asked = std::any_of(specs_.begin(), specs_.end(),
                                      [&](const FeatureSpec& s) { return s.id == feature.id; });
    if (is_asked) continue;
    if (is_same)
      kept_.push_back(feature);
    else
      specs_.push_back(parse_feature(feature.spec));
  }
}

const FeatureRecord* Extraction::recorded(const std::string& id) const {
  if (!record_) return nullptr;
  for (const FeatureRecord& feature : record_->features)
    if (feature.id == id) return &feature;
  return nullptr;
}

void Extraction::open_stores(FeatureTask& task) {
  const std::string& id = task.spec.id;
  std::vector<uint64_t> hashes;
  for (const ImageRow& row : recorded_rows_) hashes.push_back(row.hash);
  const FeatureRecord* before = recorded(id);
  const StoreFiles files = task.spec.is_local() ? count_files(out_, id) : whole_files(out_, id);
  task.rows = std::make_unique<RowStore>(files, part_path(id), task.key);
  if (before && before->key == task.key && is_intact(*before, files))
    task.rows->take_finished(hashes);
  const bool had_patches = before && !before->patches_key.empty();
  if (!task.spec.is_local() || (!options_.patches && !had_patches)) return;
  task.patches_key = Fingerprint("patches")
                         .text(descriptor_key(task, options_.decode))
                         .text(task.spec.words.pca > 0 ? task.key : "")
                         .hex();
  task.patches = std::make_unique<RowStore>(patch_files(out_, id), part_path(id + ".patches"),
                                            task.patches_key);
  if (had_patches && before->patches_key == task.patches_key &&
      is_intact(*before, patch_files(out_, id)))
    task.patches->take_finished(hashes);
}

// False when stopped.
bool Extraction::prepare_tasks() {
  for (FeatureSpec& spec : specs_) {
    FeatureTask task;
    task.spec = std::move(spec);
    validate_fields(task.spec.fields());
    task.spec.feature->prepare();
    task.options_json = options_json(task.spec);
    if (task.spec.is_local() &&
        !find_vocabulary(task, items_, images_.root, out_, options_, monitor_, result_.warnings))
      return false;
    task.key = rows_key(task, options_.decode);
    open_stores(task);
    tasks_.push_back(std::move(task));
  }
  return true;
}

std::vector<int64_t> Extraction::missing() const {
  std::vector<int64_t> todo;
  for (int64_t i = begin(); i < end(); ++i) {
    const FileState* known = items_[static_cast<size_t>(i)].known;
    bool is_done = known != nullptr;
    if (known && known->error.empty())
      for (const FeatureTask& task : tasks_)
        is_done = is_done && task.rows->has(known->hash) &&
                  (!task.patches || task.patches->has(known->hash));
    if (!is_done) todo.push_back(i);
  }
  return todo;
}

void Extraction::skip(const ImageItem& item, const std::string& reason) {
  if (options_.strict)
    throw DataError(fmt::format("{} (strict: without it the image would be skipped)", reason));
  errors_[item.path] = reason;
}

void Extraction::keep(ImageItem& item, ImageResult result) {
  result_.num_computed += result.was_decoded;
  if (!result.error.empty()) return skip(item, result.error);
  for (size_t t = 0; t < tasks_.size(); ++t) {
    if (result.features[t].rows)
      tasks_[t].rows->append(result.state.hash, *result.features[t].rows);
    if (result.features[t].patches)
      tasks_[t].patches->append(result.state.hash, *result.features[t].patches);
  }
  unsettled_.emplace_back(&item, std::move(result.state));
  if (since_settled_.seconds() >= kSecondsPerFlush) settle();
}

// An image is known once its rows are on disk.
void Extraction::settle() {
  for (FeatureTask& task : tasks_) {
    task.rows->flush();
    if (task.patches) task.patches->flush();
  }
  for (auto& [item, state] : unsettled_) {
    index_->append(item->path, state);
    item->known = index_->find(item->path, item->now);
  }
  unsettled_.clear();
  since_settled_ = Stopwatch();
}

// False when stopped.
bool Extraction::process(const std::vector<int64_t>& todo) {
  if (!todo.empty())
    for (FeatureTask& task : tasks_) task.spec.feature->open(monitor_);
  const int64_t total = end() - begin();
  int64_t done = total - static_cast<int64_t>(todo.size());
  for_each_in_order(
      static_cast<int64_t>(todo.size()), options_.num_threads, monitor_,
      [&](int64_t i) {
        return process_image(items_[todo[i]], images_.root, tasks_, options_.decode);
      },
      [&](int64_t i, ImageResult result) {
        if (!result.error.empty() && monitor_.should_stop()) return;  // it was cut short
        keep(items_[todo[i]], std::move(result));
        monitor_.on_progress("images", ++done, total);
      });
  settle();
  return done == total;
}

bool Extraction::is_finished(const std::vector<uint64_t>& hashes,
                             const std::vector<ImageRow>& rows) const {
  if (!record_ || images_csv(rows) != images_csv(recorded_rows_)) return false;
  if (record_->source != images_.root || record_->max_pixels != options_.decode.max_pixels)
    return false;
  for (const FeatureTask& task : tasks_) {
    const FeatureRecord* before = recorded(task.spec.id);
    if (!before || damaged_.contains(task.spec.id) || before->options_json != task.options_json ||
        before->key != task.key || before->patches_key != task.patches_key ||
        !task.rows->is_finished(hashes) || (task.patches && !task.patches->is_finished(hashes)))
      return false;
  }
  return true;
}

FolderRecord Extraction::make_record(const std::vector<ImageRow>& rows) const {
  FolderRecord record;
  record.source = images_.root;
  record.absolute_source = absolute_source_;
  record.images = hash_text(images_csv(rows));
  record.num_images = static_cast<int64_t>(rows.size());
  record.max_side = options_.decode.max_side;
  record.max_pixels = options_.decode.max_pixels;
  record.features = kept_;
  for (const FeatureTask& task : tasks_) {
    FeatureRecord feature;
    feature.id = task.spec.id;
    feature.spec = to_text(const_cast<FeatureSpec&>(task.spec));  // only reads
    feature.kind = task.spec.is_local() ? "words" : "whole";
    feature.options_json = task.options_json;
    feature.key = task.key;
    feature.patches_key = task.patches_key;
    feature.cols = task.rows->cols();
    feature.files = print_files(out_, files_of(out_, feature));
    record.features.push_back(std::move(feature));
  }
  return record;
}

// The rows of images.csv for the items of this run; the others are noted as skipped.
std::vector<ImageRow> Extraction::rows_of_items() {
  std::vector<ImageRow> rows;
  for (int64_t i = begin(); i < end(); ++i) {
    const ImageItem& item = items_[static_cast<size_t>(i)];
    const auto error = errors_.find(item.path);
    if (error == errors_.end() && item.known->error.empty()) {
      rows.push_back(
          {item.path, item.class_name, item.known->width, item.known->height, item.known->hash});
      continue;
    }
    if (error == errors_.end() && options_.strict) skip(item, item.known->error);
    result_.skipped.push_back(
        {item.path, error != errors_.end() ? error->second : item.known->error});
  }
  result_.num_images = static_cast<int64_t>(rows.size());
  return rows;
}

// Until features.json is back the folder counts as unfinished.
void Extraction::finish() {
  const std::vector<ImageRow> rows = rows_of_items();
  std::vector<uint64_t> hashes;
  for (const ImageRow& row : rows) hashes.push_back(row.hash);
  if (rows.empty())
    throw DataError(fmt::format("no image in {} could be read; the first: {}", images_.root,
                                result_.skipped.front().reason));
  if (is_finished(hashes, rows)) return;
  for (FeatureTask& task : tasks_) {
    task.rows->assemble(hashes);
    if (task.patches) task.patches->assemble(hashes);
  }
  fs::remove(out_ + "/features.json");
  for (FeatureTask& task : tasks_) {
    task.rows->publish();
    if (task.patches) task.patches->publish();
    if (task.spec.is_local()) write_words(task, out_);
  }
  write_file_atomically(out_ + "/images.csv", images_csv(rows));
  write_features_json(out_ + "/features.json", make_record(rows));
  index_->keep_only(images_.paths);
}

ExtractResult Extraction::run() {
  const Stopwatch watch;
  validate_options(options_);
  require(!specs_.empty(), "no feature was given: see the catalog in docs/features.md");
  quiet_opencv();
  make_feature_folder(out_);
  FileLock lock(hidden(out_, "lock"), options_.shard ? LockKind::Shared : LockKind::Exclusive);
  if (!take(lock)) throw_locked(out_);
  absolute_source_ = fs::absolute(images_.root).lexically_normal().string();
  if (options_.shard)
    run_shard();
  else
    run_whole();
  result_.seconds = watch.seconds();
  return std::move(result_);
}

bool Extraction::take(FileLock& lock) const {
  return options_.waits ? lock.wait(monitor_) : lock.take();
}

void Extraction::run_whole() {
  if (has_shards(out_))
    throw InvalidArgument(fmt::format(
        "{0} holds shards that are not merged: merge them (milieu features --merge {0}), or remove "
        "{0}/.milieu/shards",
        out_));
  remove_leftovers(out_);
  index_ = std::make_unique<FileIndex>(hidden(out_, "files"));
  read_recorded();
  list_items();
  find_known();
  add_recorded_specs();
  find_damage();
  result_.is_complete = prepare_tasks() && process(missing());
  if (!result_.is_complete) return;
  finish();
  discard_samples();
}

void Extraction::discard_samples() {
  for (FeatureTask& task : tasks_)
    if (task.sample) task.sample->discard_part();
}

}  // namespace internal

ExtractResult extract_features(const ImageFolder& images, std::vector<FeatureSpec> specs,
                               const std::string& out, const ExtractOptions& options,
                               Monitor& monitor) {
  return internal::Extraction(images, std::move(specs), out, options, monitor).run();
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// The life of an extraction: what is known -> what is missing -> vocabulary -> images, appended
// one by one -> finished files. Until the last step nothing that was there before is touched.
#include "milieu/feature/cache/extract.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>

#include "milieu/base/error.h"
#include "milieu/base/hash.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/file/temporary.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/feature/cache/extract_internal.h"
#include "milieu/feature/cache/in_order_internal.h"
#include "milieu/feature/opencv_internal.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;
using namespace internal;

// Locks the folder for this process; a crash releases it.
class FolderLock {
 public:
  FolderLock(const std::string& out, bool waits, const Monitor& monitor) {
    const std::string path = hidden(out, "lock");
    fd_ = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (fd_ < 0) throw IoError(fmt::format("{} cannot be created: {}", path, std::strerror(errno)));
    while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      if (waits && !monitor.should_stop()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        continue;
      }
      ::close(fd_);
      throw IoError(
          fmt::format("another run is writing to {}: wait for it, or choose another folder", out));
    }
  }
  ~FolderLock() { ::close(fd_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

void make_folder(const std::string& out) {
  std::error_code error;
  const bool is_ours = fs::exists(out + "/.milieu", error) || fs::exists(out + "/features.json");
  if (fs::exists(out, error) && !fs::is_directory(out, error))
    throw InvalidArgument(fmt::format("{} is a file, must be a folder for features", out));
  if (!is_ours && fs::is_directory(out, error) && !fs::is_empty(out, error))
    throw InvalidArgument(
        fmt::format("{} holds other files, must be new, empty or a feature folder", out));
  fs::create_directories(out + "/.milieu", error);
  if (error) throw IoError(fmt::format("{} cannot be created: {}", out, error.message()));
}

// Incomplete files that a killed run left behind.
void remove_leftovers(const std::string& out) {
  for (const std::string& folder : {out, out + "/.milieu"})
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".npy.new") || is_temporary_name(name) ||
          name.find(".tmp-") != std::string::npos)
        fs::remove(entry.path());
    }
}

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

class Extraction {
 public:
  Extraction(const ImageFolder& images, std::vector<FeatureSpec> specs, std::string out,
             const ExtractOptions& options, Monitor& monitor)
      : images_(images),
        specs_(std::move(specs)),
        out_(std::move(out)),
        options_(options),
        monitor_(monitor) {}

  ExtractResult run();

 private:
  void read_recorded();
  void list_items();
  void find_damage();
  bool is_intact(const FeatureRecord& feature, const StoreFiles& files) const;
  bool is_listing_unchanged() const;
  void add_recorded_specs();
  bool prepare_tasks();
  void open_stores(FeatureTask& task);
  const FeatureRecord* recorded(const std::string& id) const;
  std::vector<int64_t> missing() const;
  bool process(const std::vector<int64_t>& todo);
  void keep(ImageItem& item, ImageResult result);
  void settle();
  void skip(const ImageItem& item, const std::string& reason);
  void finish();
  bool is_finished(const std::vector<uint64_t>& hashes, const std::vector<ImageRow>& rows) const;
  FolderRecord make_record(const std::vector<ImageRow>& rows) const;

  const ImageFolder& images_;
  std::vector<FeatureSpec> specs_;
  std::string out_;
  const ExtractOptions& options_;
  Monitor& monitor_;
  std::unique_ptr<FileIndex> index_;
  std::optional<FolderRecord> record_;   // of the finished folder, if it is one
  std::vector<ImageRow> recorded_rows_;  // its images.csv
  std::vector<FeatureRecord> kept_;      // finished features that are not part of this job
  // Files of finished features that are not what was written: feature to names.
  std::map<std::string, std::set<std::string>> damaged_;
  std::vector<ImageItem> items_;
  std::vector<FeatureTask> tasks_;
  std::vector<std::pair<ImageItem*, FileState>> unsettled_;  // rows may not be on disk yet
  Stopwatch since_settled_;
  std::map<std::string, std::string> errors_;  // of this run: path to reason
  ExtractResult result_;
};

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
    item.now = stamp_of(images_.root + "/" + item.path);
    item.known = options_.verify ? nullptr : index_->find(item.path, item.now);
    item.earlier = index_->find_earlier(item.path);
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
  task.rows = std::make_unique<RowStore>(files, hidden(out_, id), task.key);
  if (before && before->key == task.key && is_intact(*before, files))
    task.rows->take_finished(hashes);
  const bool had_patches = before && !before->patches_key.empty();
  if (!task.spec.is_local() || (!options_.patches && !had_patches)) return;
  task.patches_key = Fingerprint("patches")
                         .text(descriptor_key(task, options_.decode))
                         .text(task.spec.words.pca > 0 ? task.key : "")
                         .hex();
  task.patches = std::make_unique<RowStore>(patch_files(out_, id), hidden(out_, id + ".patches"),
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
  for (size_t i = 0; i < items_.size(); ++i) {
    const FileState* known = items_[i].known;
    bool is_done = known != nullptr;
    if (known && known->error.empty())
      for (const FeatureTask& task : tasks_)
        is_done = is_done && task.rows->has(known->hash) &&
                  (!task.patches || task.patches->has(known->hash));
    if (!is_done) todo.push_back(static_cast<int64_t>(i));
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
  const auto total = static_cast<int64_t>(items_.size());
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
  record.absolute_source = fs::absolute(images_.root).lexically_normal().string();
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

// Until features.json is back the folder counts as unfinished.
void Extraction::finish() {
  std::vector<ImageRow> rows;
  std::vector<uint64_t> hashes;
  for (const ImageItem& item : items_) {
    const auto error = errors_.find(item.path);
    if (error != errors_.end() || !item.known->error.empty()) {
      if (error == errors_.end() && options_.strict) skip(item, item.known->error);
      result_.skipped.push_back(
          {item.path, error != errors_.end() ? error->second : item.known->error});
      continue;
    }
    rows.push_back(
        {item.path, item.class_name, item.known->width, item.known->height, item.known->hash});
    hashes.push_back(item.known->hash);
  }
  result_.num_images = static_cast<int64_t>(rows.size());
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
  make_folder(out_);
  const FolderLock lock(out_, options_.waits, monitor_);
  remove_leftovers(out_);
  index_ = std::make_unique<FileIndex>(hidden(out_, "files"));
  read_recorded();
  list_items();
  add_recorded_specs();
  find_damage();
  result_.is_complete = prepare_tasks() && process(missing());
  if (result_.is_complete) finish();
  if (result_.is_complete)
    for (FeatureTask& task : tasks_)
      if (task.sample) task.sample->discard_part();
  result_.seconds = watch.seconds();
  return std::move(result_);
}

}  // namespace

ExtractResult extract_features(const ImageFolder& images, std::vector<FeatureSpec> specs,
                               const std::string& out, const ExtractOptions& options,
                               Monitor& monitor) {
  return Extraction(images, std::move(specs), out, options, monitor).run();
}

}  // namespace milieu

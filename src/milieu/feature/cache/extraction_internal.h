// SPDX-License-Identifier: Apache-2.0
// One call of extract_features or merge_features.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "milieu/base/summary.h"
#include "milieu/feature/cache/extract_internal.h"
#include "milieu/feature/cache/shard_job_internal.h"

namespace milieu::internal {

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
  // Takes all from the shards of `job`.
  ExtractResult merge(const ShardJob& job);

 private:
  void run_whole();
  void run_shard();
  bool take(FileLock& lock) const;
  void read_recorded();
  void list_items();
  void find_known();
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
  std::vector<ImageRow> rows_of_items();
  void finish();
  bool is_finished(const std::vector<uint64_t>& hashes, const std::vector<ImageRow>& rows) const;
  FolderRecord make_record(const std::vector<ImageRow>& rows) const;
  void discard_samples();

  // The items of this run: [begin, end) of the listing.
  int64_t begin() const { return options_.shard ? options_.shard->begin(std::ssize(items_)) : 0; }
  int64_t end() const {
    return options_.shard ? options_.shard->end(std::ssize(items_)) : std::ssize(items_);
  }
  // Where what this run appends is kept.
  std::string part_path(const std::string& name) const;

  // Of extract_shards.cc.
  ShardJob shard_job() const;
  RowKeys row_keys() const;
  bool prepare_shard();
  void finish_shard();
  void take_states(const Shard& shard);
  void take_parts(const Shard& shard);
  void check_complete(int num_shards) const;
  void keep_states();

  const ImageFolder& images_;
  std::vector<FeatureSpec> specs_;
  std::string out_;
  const ExtractOptions& options_;
  Monitor& monitor_;
  std::string absolute_source_;
  std::unique_ptr<FileIndex> index_;
  std::unique_ptr<FileIndex> main_index_;  // of the folder, beside a shard's own; else null
  std::vector<std::unique_ptr<FileIndex>> shard_indices_;  // of a merge
  std::optional<FolderRecord> record_;                     // of the finished folder, if it is one
  std::vector<ImageRow> recorded_rows_;                    // its images.csv
  std::vector<FeatureRecord> kept_;  // finished features that are not part of this job
  // Files of finished features that are not what was written: feature to names.
  std::map<std::string, std::set<std::string>> damaged_;
  std::vector<ImageItem> items_;
  std::vector<FeatureTask> tasks_;
  std::vector<std::pair<ImageItem*, FileState>> unsettled_;  // rows may not be on disk yet
  Stopwatch since_settled_;
  std::map<std::string, std::string> errors_;  // of this run: path to reason
  ExtractResult result_;
};

}  // namespace milieu::internal

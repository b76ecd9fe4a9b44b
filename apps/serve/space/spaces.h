// SPDX-License-Identifier: Apache-2.0
// The features of a collection. Each is a space with rows, maps and neighbours of its own,
// described in the background when first asked for and kept: the images and their order are the
// same in all.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "milieu/report/collection.h"
#include "serve/space/background_job.h"

namespace milieu::serve {

using internal::Json;

// The collection by one feature.
class Space {
 public:
  explicit Space(CollectionOptions options) : collection_(std::move(options)) {}

  const Collection& collection() const { return collection_; }
  // Of every row to the nearest other one, found when first asked for.
  const std::vector<float>& nearest();
  // The map by neighbours: begun when first asked for, null until it is there.
  const std::vector<float>* neighbor_map();
  void cancel_map() { map_job_.cancel(); }
  Json map_progress() const { return map_job_.to_json(); }

 private:
  bool make_map(Monitor& monitor);

  Collection collection_;
  std::once_flag compared_;
  std::vector<float> nearest_;
  std::vector<float> map_;  // written by the job, read once it is done
  BackgroundJob map_job_;   // last: it ends before what it works on
};

struct SpacesOptions {
  CollectionOptions first;  // as the explorer was started
  // Describes the images by another feature; empty where rows are no image files.
  std::function<CollectionOptions(const std::string& feature, Monitor& monitor)> describe;
  std::vector<std::pair<std::string, std::string>> known;  // features to offer, and what they are
};

class Spaces {
 public:
  explicit Spaces(SpacesOptions options);

  Space& first() { return *first_; }
  // "": the first. Throws RequestError 404 for a feature that was not added, 409 until it is
  // described.
  std::shared_ptr<Space> find(const std::string& feature);
  // The same, but waits until it is described.
  std::shared_ptr<Space> wait_for(const std::string& feature);
  bool has(const std::string& feature) const;

  // Begins to describe the images. Throws InvalidArgument or RequestError.
  void add(const std::string& feature);
  // Cancels, or forgets a feature; runs by it stay. The first cannot be removed.
  void remove(const std::string& feature);
  // {"known": [{feature, summary}], "kept": [{feature, state, stage, done, total, error?, d?}]}
  Json to_json() const;

 private:
  struct Entry {
    std::string feature;
    std::shared_ptr<Space> space;  // written by the job, read once it is done
    BackgroundJob job;
  };

  std::shared_ptr<Entry> entry(const std::string& feature) const;
  void describe(Entry& entry);
  std::string list_path() const;
  void keep_list() const;

  SpacesOptions options_;
  std::shared_ptr<Space> first_;
  mutable std::mutex mutex_;  // the list
  std::vector<std::shared_ptr<Entry>> entries_;
};

}  // namespace milieu::serve

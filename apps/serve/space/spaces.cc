// SPDX-License-Identifier: Apache-2.0
#include "serve/space/spaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/data/text_file.h"
#include "milieu/neighbors/neighbors.h"
#include "milieu/report/map/neighbor_map.h"
#include "serve/message.h"

namespace milieu::serve {

namespace {

constexpr int64_t kMaxCompared = 100'000;  // rows whose nearest neighbours are found
constexpr size_t kMaxFeatures = 16;        // beside the first

void require_few_rows(const Collection& collection, const char* what) {
  if (collection.size() > kMaxCompared)
    throw InvalidArgument(fmt::format("the collection has {} rows: {} for at most {}",
                                      collection.size(), what, kMaxCompared));
}

// Where the map of these rows is kept; "" where nothing is.
std::string map_path(const Collection& collection) {
  if (collection.cache_folder().empty()) return {};
  Fingerprint print("neighbor-map");
  print.version().rows(collection.data().points.view());
  return fmt::format("{}/maps/{}.f32", collection.cache_folder(), print.hex());
}

std::vector<float> floats_of(const std::string& bytes, size_t count) {
  std::vector<float> values(count);
  if (bytes.size() != count * sizeof(float)) return {};
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void keep_map(const std::string& path, const std::vector<float>& map) {
  if (path.empty()) return;
  try {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    write_file_atomically(
        path, std::string(reinterpret_cast<const char*>(map.data()), map.size() * sizeof(float)));
  } catch (const std::exception&) {
    // a full disk costs time, not the map
  }
}

}  // namespace

const std::vector<float>& Space::nearest() {
  std::call_once(compared_, [&] {
    require_few_rows(collection_, "unusual and double images are found");
    const FloatView points = collection_.data().points.view();
    nearest_.assign(static_cast<size_t>(points.rows()), 0);
    if (points.rows() < 2) return;
    const NeighborLists lists = nearest_neighbors(points, points, 1, {.exclude_self = true});
    for (size_t i = 0; i < nearest_.size(); ++i)
      nearest_[i] =
          static_cast<float>(std::sqrt(lists.squared_distances(static_cast<int64_t>(i), 0)));
  });
  return nearest_;
}

const std::vector<float>* Space::neighbor_map() {
  require_few_rows(collection_, "a map by neighbours is made");
  map_job_.start([this](Monitor& monitor) { return make_map(monitor); });
  return map_job_.state() == JobState::Done ? &map_ : nullptr;
}

bool Space::make_map(Monitor& monitor) {
  const std::string path = map_path(collection_);
  const auto size = static_cast<size_t>(2 * collection_.size());
  if (!path.empty()) map_ = floats_of(try_read_text_file(path).value_or(""), size);
  if (map_.size() == size) return true;
  map_ = milieu::neighbor_map(collection_.data().points.view(), collection_.map(), {}, monitor);
  if (map_.size() != size) return false;
  keep_map(path, map_);
  return true;
}

Spaces::Spaces(SpacesOptions options)
    : options_(std::move(options)), first_(std::make_unique<Space>(std::move(options_.first))) {
  std::string list;
  if (!list_path().empty()) list = try_read_text_file(list_path()).value_or("");
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find('\n', begin), list.size());
    if (end > begin && entries_.size() < kMaxFeatures && options_.describe) {
      entries_.push_back(std::make_shared<Entry>());
      entries_.back()->feature = list.substr(begin, end - begin);
    }
    begin = end + 1;
  }
}

std::string Spaces::list_path() const {
  const std::string& folder = first_->collection().cache_folder();
  return folder.empty() ? "" : folder + "/features.txt";
}

void Spaces::keep_list() const {
  if (list_path().empty()) return;
  std::string list;
  for (const auto& entry : entries_) list += entry->feature + "\n";
  try {
    write_file_atomically(list_path(), list);
  } catch (const std::exception&) {
    // they are offered again next time
  }
}

std::shared_ptr<Spaces::Entry> Spaces::entry(const std::string& feature) const {
  const std::lock_guard lock(mutex_);
  for (const auto& one : entries_)
    if (one->feature == feature) return one;
  throw RequestError{
      404, fmt::format("the collection is not described by '{}': add the feature", feature)};
}

bool Spaces::has(const std::string& feature) const {
  const std::lock_guard lock(mutex_);
  return feature.empty() ||
         std::ranges::any_of(entries_, [&](const auto& one) { return one->feature == feature; });
}

std::shared_ptr<Space> Spaces::find(const std::string& feature) {
  if (feature.empty()) return first_;
  const std::shared_ptr<Entry> found = entry(feature);
  if (found->job.state() == JobState::None) describe(*found);
  const Json progress = found->job.to_json();
  if (found->job.state() == JobState::Done) return found->space;
  if (found->job.state() == JobState::Running)
    throw RequestError{409, fmt::format("the images are being described by {}: wait", feature)};
  throw RequestError{409, fmt::format("the images are not described by {}: {}", feature,
                                      progress.value("error", "it was cancelled"))};
}

std::shared_ptr<Space> Spaces::wait_for(const std::string& feature) {
  if (feature.empty()) return first_;
  const std::shared_ptr<Entry> found = entry(feature);
  if (found->job.state() == JobState::None) describe(*found);
  found->job.wait();
  return find(feature);
}

// The work holds what it writes to: an entry that was forgotten ends in peace.
void Spaces::describe(Entry& entry) {
  entry.job.start([this, &entry](Monitor& monitor) {
    CollectionOptions options = options_.describe(entry.feature, monitor);
    if (options.data.sample_names != first_->collection().data().sample_names)
      throw DataError(
          fmt::format("the images that {} describes are not those of the collection: start milieu "
                      "explore again",
                      entry.feature));
    entry.space = std::make_shared<Space>(std::move(options));
    return true;
  });
}

void Spaces::add(const std::string& feature) {
  if (!options_.describe)
    throw InvalidArgument("only image folders can be described by other features");
  std::shared_ptr<Entry> added;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& one : entries_)
      if (one->feature == feature) added = one;
    if (!added && entries_.size() >= kMaxFeatures)
      throw InvalidArgument(
          fmt::format("{} features are kept: remove one before adding another", kMaxFeatures));
    if (!added) {
      added = std::make_shared<Entry>();
      added->feature = feature;
      entries_.push_back(added);
      keep_list();
    }
  }
  describe(*added);
}

void Spaces::remove(const std::string& feature) {
  const std::shared_ptr<Entry> gone = entry(feature);
  gone->job.cancel();
  const std::lock_guard lock(mutex_);
  std::erase(entries_, gone);
  keep_list();
}

Json Spaces::to_json() const {
  Json known = Json::array(), kept = Json::array();
  if (options_.describe)
    for (const auto& [feature, summary] : options_.known)
      known.push_back({{"feature", feature}, {"summary", summary}});
  const std::lock_guard lock(mutex_);
  for (const auto& one : entries_) {
    Json json = one->job.to_json();
    json["feature"] = one->feature;
    if (one->job.state() == JobState::Done)
      json["d"] = one->space->collection().data().points.cols();
    kept.push_back(std::move(json));
  }
  return {{"known", std::move(known)}, {"kept", std::move(kept)}};
}

}  // namespace milieu::serve

// SPDX-License-Identifier: Apache-2.0
#include "reproduce/exemplar_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "milieu/base/random.h"
#include "milieu/feature/cache/extract.h"
#include "milieu/feature/cache/feature_store.h"
#include "milieu/input/cache_folder.h"
#include "milieu/input/distance_list.h"

namespace milieu::cli {

namespace {

constexpr std::array kDistances = {std::pair{Distance::ChiSquared, "chi2"},
                                   std::pair{Distance::SquaredEuclidean, "l2"},
                                   std::pair{Distance::L1, "l1"}, std::pair{Distance::Rbf, "RBF"}};

// The images used: up to `max_per_class` of each class, the same for every run.
ImageFolder draw_images(ImageFolder all, int max_per_class) {
  if (max_per_class == 0) return all;
  ImageFolder drawn;
  drawn.root = all.root;
  drawn.labels.names = all.labels.names;
  Random random(15);
  std::vector<std::vector<int64_t>> members(all.labels.names.size());
  for (size_t i = 0; i < all.paths.size(); ++i)
    members[static_cast<size_t>(all.labels.indices[i])].push_back(static_cast<int64_t>(i));
  for (std::vector<int64_t>& each : members) {
    random.shuffle(std::span(each));
    each.resize(std::min<size_t>(each.size(), static_cast<size_t>(max_per_class)));
    std::sort(each.begin(), each.end());
    for (const int64_t i : each) {
      drawn.paths.push_back(all.paths[static_cast<size_t>(i)]);
      drawn.labels.indices.push_back(all.labels.indices[static_cast<size_t>(i)]);
    }
  }
  return drawn;
}

void add_feature(const FeatureFolder& folder, const std::string& id, const std::string& title,
                 const DistanceList& own, ImageSet& set) {
  const Points points = folder.points(id);
  const int64_t first = set.points.cols();
  Matrix<float> joined(points.rows(), first + points.cols());
  bool is_histogram = true;
  for (int64_t i = 0; i < points.rows(); ++i) {
    if (first > 0) std::copy_n(set.points.row(i), first, joined.row(i));
    std::copy_n(points.view().row(i), points.cols(), joined.row(i) + first);
    for (int64_t t = 0; t < points.cols(); ++t)
      is_histogram = is_histogram && points.view()(i, t) >= 0;
  }
  set.points = std::move(joined);
  for (const auto& [text, distance, gamma] : own.of(id))
    set.candidates.push_back(
        {fmt::format("{} {}", title, text), distance, gamma, first, points.cols()});
  for (const auto& [distance, name] : kDistances)
    if (own.common.empty() && (is_histogram || distance != Distance::ChiSquared))
      set.candidates.push_back(
          {fmt::format("{} {}", title, name), distance, 0, first, points.cols()});
}

}  // namespace

bool load_images(const ImageSetting& setting, ReproduceRun& run, ImageSet& set) {
  const ImageFolder images =
      draw_images(list_image_folder(run.data_file(setting.set)), setting.max_per_class);
  set.root = images.root;
  set.paths = images.paths;
  set.classes = images.labels.indices;
  set.num_classes = static_cast<int>(images.labels.names.size());
  // One by one: a feature may be in the list several times, with other options.
  const DistanceList distances =
      setting.distances.empty() ? DistanceList() : parse_distance_list(setting.distances);
  std::istringstream list(setting.features);
  for (std::string each; std::getline(list, each, ',');) {
    std::vector<FeatureSpec> one = parse_features(each);
    const std::string id = one[0].id, text = to_text(one[0]);
    std::string place = text;
    for (char& c : place)
      if (c == ':' || c == '=' || c == '/') c = '-';
    ExtractOptions extract;
    extract.num_threads = run.options().num_threads;
    extract.waits = true;
    run.say(fmt::format("{} of {} images", text, images.paths.size()));
    const std::string folder = fmt::format("{}/reproduce-{}-{}-{}", cache_folder(), setting.set,
                                           images.paths.size(), place);
    const ExtractResult result =
        extract_features(images, std::move(one), folder, extract, run.monitor());
    if (!result.is_complete || run.is_stopped()) return false;
    add_feature(open_feature_folder(folder), id, text, distances, set);
  }
  return true;
}

void add_noise(ImageSet& set, uint64_t seed) {
  Random random(seed);
  constexpr int64_t kColumns = 50;
  const size_t num_views = (set.candidates.size() + 3) / 4;
  const int64_t first = set.points.cols();
  Matrix<float> joined(set.points.rows(), first + kColumns * static_cast<int64_t>(num_views));
  for (int64_t i = 0; i < joined.rows(); ++i) {
    std::copy_n(set.points.row(i), first, joined.row(i));
    for (int64_t t = first; t < joined.cols(); ++t)
      joined(i, t) = static_cast<float>(std::abs(random.normal()));
  }
  set.points = std::move(joined);
  for (size_t v = 0; v < num_views; ++v)
    for (const auto& [distance, name] : kDistances)
      set.candidates.push_back({fmt::format("noise {} {}", v, name), distance, 0,
                                first + kColumns * static_cast<int64_t>(v), kColumns});
}

std::pair<Half, Half> split_images(const ImageSet& set, uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<int64_t>> members(static_cast<size_t>(set.num_classes));
  for (size_t i = 0; i < set.classes.size(); ++i)
    members[static_cast<size_t>(set.classes[i])].push_back(static_cast<int64_t>(i));
  std::pair<Half, Half> halves;
  for (std::vector<int64_t>& each : members) {
    random.shuffle(std::span(each));
    for (size_t i = 0; i < each.size(); ++i)
      (i < each.size() / 2 ? halves.first : halves.second).rows.push_back(each[i]);
  }
  for (Half* half : {&halves.first, &halves.second}) {
    std::sort(half->rows.begin(), half->rows.end());
    half->points = Matrix<float>(static_cast<int64_t>(half->rows.size()), set.points.cols());
    for (size_t i = 0; i < half->rows.size(); ++i) {
      std::copy_n(set.points.row(half->rows[i]), set.points.cols(),
                  half->points.row(static_cast<int64_t>(i)));
      half->classes.push_back(set.classes[static_cast<size_t>(half->rows[i])]);
    }
  }
  return halves;
}

}  // namespace milieu::cli

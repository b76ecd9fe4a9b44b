// SPDX-License-Identifier: Apache-2.0
#include "demo/demo_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "demo/stories/stories.h"
#include "milieu/base/assert.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/format/npy.h"
#include "milieu/render/png.h"

namespace milieu::cli {

namespace {

std::string class_names_text(const Labels& labels) {
  std::string text = "label\n";
  for (const int index : labels.indices)
    text += (index < 0 ? std::string("-1") : labels.names[static_cast<size_t>(index)]) + "\n";
  return text;
}

std::string png_of(const DemoSet& set, int64_t row) {
  RasterImage image(set.image_side, set.image_side, 1);
  for (int64_t t = 0; t < set.rows.cols(); ++t)
    image.pixels[static_cast<size_t>(t)] = static_cast<uint8_t>(255 * set.rows(row, t) + 0.5f);
  return encode_png(image);
}

void write_folder(const DemoSet& set, const std::string& folder) {
  const Labels& classes = set.truths[0].labels;
  for (const std::string& name : classes.names)
    std::filesystem::create_directories(fmt::format("{}/{}", folder, name));
  for (int64_t i = 0; i < set.rows.rows(); ++i) {
    const auto kind = static_cast<size_t>(classes.indices[static_cast<size_t>(i)]);
    write_file_atomically(fmt::format("{}/{}/{:04}.png", folder, classes.names[kind], i),
                          png_of(set, i));
  }
}

}  // namespace

DemoTruth make_truth(std::string name, std::vector<std::string> names, std::vector<int> indices) {
  MILIEU_ASSERT(std::is_sorted(names.begin(), names.end()));
  return {std::move(name), {.indices = std::move(indices), .names = std::move(names)}};
}

std::vector<DemoJob> plain_jobs(const std::string& set, const std::string& truth, int clusters) {
  const std::string k = fmt::format("{}", clusters);
  std::vector<DemoJob> jobs;
  const auto add = [&](const char* method, const char* title, DemoOptions options) {
    options.emplace_back("num_clusters", k);
    jobs.push_back({.name = method,
                    .title = title,
                    .method = method,
                    .set = set,
                    .truth = truth,
                    .options = std::move(options)});
  };
  add("kmeans", "k-means", {});
  add("ncut", "normalized cut", {});
  add("agglomerative", "Ward's method", {{"linkage", "ward"}});
  return jobs;
}

const DemoSet& DemoStory::set(const std::string& set_name) const {
  const auto found = std::find_if(sets.begin(), sets.end(),
                                  [&](const DemoSet& set) { return set.name == set_name; });
  MILIEU_ASSERT(found != sets.end());  // a job names a set that is not made
  return *found;
}

const DemoTruth* find_truth(const DemoSet& set, const std::string& name) {
  for (const DemoTruth& truth : set.truths)
    if (truth.name == name) return &truth;
  return nullptr;
}

std::string truth_file(const DemoSet& set, const DemoTruth& truth) {
  return fmt::format("{}_{}.csv", set.name, truth.name);
}

DemoStories make_demo_stories(uint64_t seed, bool with_garments) {
  DemoStories made;
  ImagePool pool(seed, with_garments);
  made.has_garments = pool.has_garments();
  made.stories.push_back(tell_cac(seed, pool));
  made.stories.push_back(tell_dcp(seed));
  made.stories.push_back(tell_icc(seed));
  made.stories.push_back(tell_exemplar(seed, pool));
  made.stories.push_back(tell_dlgmm(seed));
  return made;
}

void write_demo_files(const std::vector<DemoStory>& stories, const std::string& folder) {
  for (const DemoStory& story : stories)
    for (const DemoSet& set : story.sets) {
      const std::string place = fmt::format("{}/{}", folder, set.name);
      if (set.is_folder)
        write_folder(set, place);
      else
        write_npy(place + ".npy", set.rows.view());
      for (size_t t = set.is_folder; t < set.truths.size(); ++t)  // folders say the first
        write_file_atomically(fmt::format("{}/{}", folder, truth_file(set, set.truths[t])),
                              class_names_text(set.truths[t].labels));
    }
}

}  // namespace milieu::cli

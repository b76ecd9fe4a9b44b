// SPDX-License-Identifier: Apache-2.0
// Mosaics of Brodatz and UIUC textures: which texture a keypoint lies in is the truth.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "milieu/cac/cac.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/image_folder.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/input/keypoints.h"
#include "reproduce/cac/baselines.h"
#include "reproduce/cac/cac.h"
#include "reproduce/cac/error_table.h"

namespace milieu::cli {

namespace {

constexpr int kSide = 256;          // of one texture
constexpr int kTextures = 12;       // of each half of a set
constexpr int kWideNeighbors = 40;  // of groups wider than the ones cac has by default

struct Mosaic {
  std::string name;
  bool has_chosen = false;
  std::vector<std::string> folders;  // two or three side by side, four as quadrants
};

// Classes in turn belong to the choice and to the report. Of each half there are six pairs, three
// quadruples and four triples.
std::vector<Mosaic> mosaics_of(const ReproduceRun& run, const std::string& set) {
  const std::string root = run.data_file(set);
  const std::vector<std::string> names = list_image_folder(root).labels.names;
  std::vector<Mosaic> mosaics;
  for (const int half : {0, 1}) {
    const auto add = [&](const char* kind, int number, const std::vector<int>& textures) {
      Mosaic mosaic{fmt::format("{} {} {}", set, kind, number + kTextures * half), half == 0, {}};
      for (const int t : textures) mosaic.folders.push_back(root + "/" + names[2 * t + half]);
      mosaics.push_back(std::move(mosaic));
    };
    for (int j = 0; j < 6; ++j) add("pair", j, {2 * j, 2 * j + 1});
    for (int j = 0; j < 3; ++j) add("quadruple", j, {j, j + 3, j + 6, j + 9});
    for (int j = 0; j < 4; ++j) add("triple", j, {j, j + 4, j + 8});
  }
  return mosaics;
}

void paste(const Image& from, Image& to, int left, int top) {
  for (int y = 0; y < std::min(from.height, to.height - top); ++y)
    std::copy_n(from.pixel(0, y), 3 * std::min(from.width, to.width - left),
                to.pixel(left, top + y));
}

// kSide x kSide pixels of one texture: its first image, or the four tiles 1, 2, 5, 6 of a plate,
// which touch.
Image texture(const std::string& folder) {
  const std::vector<std::string> paths = list_image_folder(folder).paths;
  const Image first = load_image(folder + "/" + paths[0]);
  Image whole = make_image(kSide, kSide);
  paste(first, whole, 0, 0);
  if (first.width >= kSide) return whole;
  const int size = first.width;
  paste(load_image(folder + "/" + paths[1]), whole, size, 0);
  paste(load_image(folder + "/" + paths[4]), whole, 0, size);
  paste(load_image(folder + "/" + paths[5]), whole, size, size);
  return whole;
}

struct Keypoints {
  Matrix<float> descriptors, positions;
  std::vector<int> truth;
};

Keypoints find_keypoints(const Mosaic& mosaic) {
  const int across = mosaic.folders.size() == 4 ? 2 : static_cast<int>(mosaic.folders.size());
  const int down = static_cast<int>(mosaic.folders.size()) / across;
  Image image = make_image(across * kSide, down * kSide);
  for (size_t t = 0; t < mosaic.folders.size(); ++t) {
    const int at = static_cast<int>(t);
    paste(texture(mosaic.folders[t]), image, at % across * kSide, at / across * kSide);
  }
  LocalDescriptors local = sparse_sift(image, texton_keypoints());
  Keypoints found;
  found.positions = Matrix<float>(local.frames.rows(), 2);
  for (int64_t i = 0; i < local.frames.rows(); ++i) {
    std::copy_n(local.frames.row(i), 2, found.positions.row(i));
    const int x = std::clamp(static_cast<int>(local.frames(i, 0)) / kSide, 0, across - 1);
    const int y = std::clamp(static_cast<int>(local.frames(i, 1)) / kSide, 0, down - 1);
    found.truth.push_back(y * across + x);
  }
  found.descriptors = std::move(local.descriptors);
  return found;
}

// Shares of 25 words in each group.
Matrix<float> group_histograms(const ReproduceRun& run, FloatView points,
                               const ContextGroups& groups, uint64_t seed) {
  const int words = CacOptions{}.num_words.per_view(1)[0];
  const std::vector<int> labels = kmeans_labels(run, points, words, seed);
  Matrix<float> one_hot(points.rows(), words);
  for (int64_t i = 0; i < points.rows(); ++i) one_hot(i, labels[i]) = 1;
  return group_means(one_hot, groups);
}

std::vector<double> figures_of(const ReproduceRun& run, const Keypoints& found, int k) {
  CacInput input;
  input.views = {found.descriptors};
  input.positions = found.positions;
  CacOptions options;
  options.num_phrases = k;
  options.num_threads = run.options().num_threads;
  const ContextGroups groups = make_context(input, options);
  const Matrix<float> means = group_means(found.descriptors, groups);
  CacOptions wide = options;
  wide.num_neighbors = kWideNeighbors;
  const ContextGroups wide_groups = make_context(input, wide);
  const Matrix<float> wide_means = group_means(found.descriptors, wide_groups);
  SeedFigures figures(run, found.truth);
  figures.add([&](uint64_t seed) { return kmeans_labels(run, found.descriptors, k, seed); });
  figures.add([&](uint64_t seed) { return kmeans_labels(run, means, k, seed); });
  figures.add([&](uint64_t seed) {
    return kmeans_labels(run, group_histograms(run, found.descriptors, groups, seed), k, seed);
  });
  figures.add([&](uint64_t seed) { return ncut_labels(run, means, k, seed); });
  figures.add([&](uint64_t seed) {
    return kmeans_labels(run, group_histograms(run, found.descriptors, wide_groups, seed), k, seed);
  });
  figures.add([&](uint64_t seed) { return ncut_labels(run, wide_means, k, seed); });
  figures.add([&](uint64_t seed) {
    options.seed = seed;
    return fit_cac(input, options, run.monitor()).labels;
  });
  return figures.values();
}

// What the table was made from, for comparisons elsewhere.
void export_mosaic(const ReproduceRun& run, const std::string& name, const Keypoints& found) {
  if (run.options().out.empty()) return;
  const std::string folder = fmt::format("{}/cac_mosaics/{}", run.options().out, name);
  std::filesystem::create_directories(folder);
  write_npy(folder + "/descriptors.npy", found.descriptors.view());
  write_npy(folder + "/positions.npy", found.positions.view());
  write_npy(folder + "/classes.npy", std::span<const int32_t>(found.truth));
}

}  // namespace

void reproduce_cac_mosaics(ReproduceRun& run) {
  std::vector<Mosaic> mosaics = mosaics_of(run, "brodatz24");
  for (Mosaic& mosaic : mosaics_of(run, "uiuc_textures")) mosaics.push_back(std::move(mosaic));
  run.keep_progress("cac_mosaics");
  ErrorTable table(
      "cac_mosaics", "Mosaics of textures, error in % of the keypoints",
      {"k-means", "k-means of group means", "k-means of group histograms", "cut of group means",
       fmt::format("k-means of histograms, {} neighbours", kWideNeighbors),
       fmt::format("cut of means, {} neighbours", kWideNeighbors), "cac"});
  for (const Mosaic& mosaic : mosaics) {
    run.say(mosaic.name);
    const auto figures = run.piece("mosaic " + mosaic.name, [&] {
      const Keypoints found = find_keypoints(mosaic);
      export_mosaic(run, mosaic.name, found);
      return figures_of(run, found, static_cast<int>(mosaic.folders.size()));
    });
    if (run.is_stopped()) return;
    table.add(mosaic.name, mosaic.has_chosen, figures);
  }
  table.show(run, {fmt::format("Means of {} seeds; 10 neighbours in every group, where no "
                               "other number is given. All options default.",
                               run.num_runs(kCacSeeds))});
}

}  // namespace milieu::cli

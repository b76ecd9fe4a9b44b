// SPDX-License-Identifier: Apache-2.0
// [Yuan08, Sec. 3.2 and Fig. 2]: two textures side by side in one image, found as phrases
// of SIFT words. The paper shows pictures and no numbers; which half a keypoint lies in is the
// truth.
#include <fmt/format.h>

#include <algorithm>

#include "milieu/data/image_folder.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/input/keypoints.h"
#include "milieu/metrics/metrics.h"
#include "milieu/run/methods/cac.h"
#include "reproduce/cac/baselines.h"
#include "reproduce/cac/cac.h"

namespace milieu::cli {

namespace {

constexpr int kSide = 400;       // images are scaled to this height
constexpr double kSolved = 0.2;  // a pair counts if some method is below this error
constexpr const char* kPairs[][2] = {
    {"brick", "honeycomb"},       {"knit", "lace"},   {"mesh", "scales"}, {"studs", "woven"},
    {"chequered_cloth", "brick"}, {"waffle", "mesh"}, {"lace", "scales"}, {"honeycomb", "woven"},
    {"floral_cloth", "knit"}};

// The first image of a kind.
Image load_kind(const ReproduceRun& run, const std::string& kind) {
  const std::string folder = run.data_file("near_regular/" + kind);
  const Image image = load_image(folder + "/" + list_image_folder(folder).paths[0]);
  return resize(image, std::max(1, image.width * kSide / image.height), kSide);
}

Image side_by_side(const Image& left, const Image& right) {
  Image both = make_image(left.width + right.width, kSide);
  for (int y = 0; y < kSide; ++y) {
    std::copy_n(left.pixel(0, y), 3 * left.width, both.pixel(0, y));
    std::copy_n(right.pixel(0, y), 3 * right.width, both.pixel(left.width, y));
  }
  return both;
}

struct PairErrors {
  double features = 0, means = 0, paper = 0, ours = 0;
  double lowest() const { return std::min({features, means, paper, ours}); }
};

PairErrors solve(const ReproduceRun& run, const Image& image, int border, const std::string& name) {
  const LocalDescriptors local = sparse_sift(image, texton_keypoints());
  std::vector<int> truth, rows;
  for (int64_t i = 0; i < local.frames.rows(); ++i) {
    truth.push_back(local.frames(i, 0) >= static_cast<float>(border));
    rows.push_back(static_cast<int>(i));
  }
  const auto error = [&](const std::vector<int>& labels) {
    return compute_metrics(labels, truth).error;
  };
  const FloatView positions(local.frames.data(), local.frames.rows(), 2, local.frames.cols());
  CacInput input;
  input.views = {local.descriptors};
  input.positions = positions;
  CacOptions ours;
  ours.num_restarts = run.num_restarts(ours.num_restarts);
  ours.seed = run.options().seed;
  ours.num_threads = run.options().num_threads;
  CacOptions paper = published_cac_options(run);
  paper.tau = 0.5;
  paper.num_restarts = ours.num_restarts;
  PairErrors errors;
  const Matrix<float> means = group_means(local.descriptors, make_context(input, ours));
  errors.features = error(kmeans_labels(run, local.descriptors, 2, ours.seed));
  errors.means = error(kmeans_labels(run, means, 2, ours.seed));
  errors.paper = error(fit_cac(input, paper, run.monitor()).labels);
  const CacResult result = fit_cac(input, ours, run.monitor());
  errors.ours = error(result.labels);
  run.write(fmt::format("cac_textons_{}.png", name), draw_stages(image, positions, rows, result));
  return errors;
}

}  // namespace

void reproduce_cac_textons(ReproduceRun& run) {
  ResultTable table{"cac_textons",
                    "Textons, error of the half a keypoint lies in, [Yuan08, Sec. 3.2]",
                    {"pair", "k-means", "group means", "cac, paper", "cac, default"},
                    {},
                    {"The paper shows pictures only. Group means: k-means on the mean descriptor "
                     "of each group."}};
  PairErrors sum;
  int num_solved = 0;
  for (const auto& [left, right] : kPairs) {
    const Image a = load_kind(run, left), b = load_kind(run, right);
    const std::string name = fmt::format("{}_{}", left, right);
    const PairErrors errors = solve(run, side_by_side(a, b), a.width, name);
    if (run.is_stopped()) return;
    table.rows.push_back({name, share_text(errors.features), share_text(errors.means),
                          share_text(errors.paper), share_text(errors.ours)});
    if (errors.lowest() > kSolved) continue;
    ++num_solved;
    sum.features += errors.features;
    sum.means += errors.means;
    sum.paper += errors.paper;
    sum.ours += errors.ours;
  }
  const double n = std::max(1, num_solved);
  table.rows.push_back({fmt::format("mean of the {} that some method solves", num_solved),
                        share_text(sum.features / n), share_text(sum.means / n),
                        share_text(sum.paper / n), share_text(sum.ours / n)});
  run.show(table);
}

}  // namespace milieu::cli

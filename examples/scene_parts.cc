// SPDX-License-Identifier: Apache-2.0
// A task on images for the general trainer (crf/train.h): made scenes of houses, whose pixels are
// sky, wall, roof or ground, seen through noise. Parts (walls, roofs) are regions, so pixels are
// grouped into regions of like colour, cut out of the smoothed image itself; a region may be of one
// label or mixed, which is a latent choice (robust P^n, weight 3 for members that disagree, weight
// 4 for a mixed region). What is above what is another weight: pairs of neighbours pay weight 1 if
// they differ, and weight 2 if ground is above anything else. Rows and columns are slaves,
// minimised by dynamic programming; each region is another one.
//   scene_parts [FOLDER]   also writes images, truths and labellings as FOLDER/scenes.ppm
// Prints the share of wrong pixels on new scenes; ends with 1 when more structure does not help.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/crf/graph_example.h"

using namespace milieu;

namespace {

constexpr int kSide = 28, kPixels = kSide * kSide, kLabels = 4;
enum Label { Sky, Wall, Roof, Ground };
// Regions help under strong noise: at 0.28 and 0.2 pairs alone are better (.097 against .122 and
// .062 against .066 of the pixels wrong, one look each), for then they see the borders well.
constexpr double kNoise = 0.34;
constexpr std::array<std::array<double, 3>, kLabels> kColors = {
    {{0.55, 0.65, 0.75}, {0.65, 0.6, 0.5}, {0.6, 0.45, 0.45}, {0.45, 0.55, 0.4}}};

struct Scene {
  std::vector<std::array<double, 3>> seen;
  std::vector<int> truth;
  std::vector<int> region;  // of each pixel
  int num_regions = 0;
};

// Regions of like colour: pixels of the smoothed image, joined with the neighbour to the right or
// below where they differ little.
void find_regions(Scene& scene) {
  std::vector<std::array<double, 3>> smooth(kPixels);
  for (int i = 0; i < kPixels; ++i) {
    double count = 0;
    for (int dy = -2; dy <= 2; ++dy)
      for (int dx = -2; dx <= 2; ++dx) {
        const int y = i / kSide + dy, x = i % kSide + dx;
        if (y < 0 || x < 0 || y >= kSide || x >= kSide) continue;
        ++count;
        for (int c = 0; c < 3; ++c) smooth[i][c] += scene.seen[y * kSide + x][c];
      }
    for (double& value : smooth[i]) value /= count;
  }
  std::vector<int> root(kPixels);
  for (int i = 0; i < kPixels; ++i) root[i] = i;
  const auto find = [&](int i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  const auto join = [&](int a, int b) {
    double squares = 0;
    for (int c = 0; c < 3; ++c)
      squares += (smooth[a][c] - smooth[b][c]) * (smooth[a][c] - smooth[b][c]);
    if (squares < 0.0035) root[find(b)] = find(a);
  };
  for (int i = 0; i < kPixels; ++i) {
    if (i % kSide + 1 < kSide) join(i, i + 1);
    if (i + kSide < kPixels) join(i, i + kSide);
  }
  std::vector<int> number(kPixels, -1);
  for (int i = 0; i < kPixels; ++i) {
    int& own = number[find(i)];
    if (own < 0) own = scene.num_regions++;
    scene.region.push_back(own);
  }
}

Scene draw_scene(uint64_t seed) {
  Random random(seed);
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(random.uniform_index(high - low + 1));
  };
  Scene scene;
  const int horizon = between(16, 20);
  scene.truth.resize(kPixels);
  for (int i = 0; i < kPixels; ++i) scene.truth[i] = i / kSide < horizon ? Sky : Ground;
  for (int house = 0; house < 2; ++house) {
    const int left = house * kSide / 2 + between(1, 3), width = between(8, 10);
    const int top = horizon - between(6, 9), bottom = horizon + between(1, 3);
    for (int y = top - 4; y < bottom; ++y)
      for (int x = left; x < left + width && x < kSide; ++x) {
        const int inset = top - y;  // the roof gets narrower towards its ridge
        if (y >= top || (x >= left + inset && x < left + width - inset))
          scene.truth[y * kSide + x] = y >= top ? Wall : Roof;
      }
  }
  for (const int label : scene.truth) {
    std::array<double, 3> color = kColors[label];
    for (double& value : color) value += kNoise * random.normal();
    scene.seen.push_back(color);
  }
  find_regions(scene);
  return scene;
}

struct Model {
  bool has_pairs = false, has_regions = false;
};

std::shared_ptr<const CrfFactor> pair_factor(int a, int b, bool is_above) {
  std::vector<LinearCost> costs;
  for (int first = 0; first < kLabels; ++first)
    for (int second = 0; second < kLabels; ++second) {
      LinearCost cost;
      if (first != second) cost.terms.emplace_back(1, 1);
      if (is_above && first == Ground && second != Ground) cost.terms.emplace_back(2, 1);
      costs.push_back(cost);
    }
  return std::make_shared<TableFactor>(std::vector<int>{a, b}, std::vector<int>{kLabels, kLabels},
                                       costs);
}

CrfGraph make_graph(const Scene& scene, const Model& model) {
  CrfGraph graph;
  for (int i = 0; i < kPixels; ++i) {
    std::vector<LinearCost> costs;
    for (const auto& color : kColors) {
      double squares = 0;
      for (int c = 0; c < 3; ++c)
        squares += (scene.seen[i][c] - color[c]) * (scene.seen[i][c] - color[c]);
      costs.push_back(weighted_cost(0, squares));
    }
    graph.add_variable(costs);
  }
  for (int line = 0; line < kSide && model.has_pairs; ++line) {
    std::vector<std::shared_ptr<const CrfFactor>> row, column;
    for (int i = 0; i + 1 < kSide; ++i) {
      row.push_back(pair_factor(line * kSide + i, line * kSide + i + 1, false));
      column.push_back(pair_factor(i * kSide + line, (i + 1) * kSide + line, true));
    }
    graph.add_slave(std::make_shared<TreeSlave>(row));
    graph.add_slave(std::make_shared<TreeSlave>(column));
  }
  if (!model.has_regions) return graph;
  std::vector<std::vector<int>> members(scene.num_regions);
  for (int i = 0; i < kPixels; ++i) members[scene.region[i]].push_back(i);
  for (const std::vector<int>& region : members) {
    if (region.size() < 4) continue;
    const int choice = graph.add_variable(std::vector<LinearCost>(kLabels + 1));
    graph.add_clique(std::make_shared<LatentPnFactor>(choice, region, kLabels, weighted_cost(3),
                                                      weighted_cost(4)));
  }
  return graph;
}

std::vector<double> train(const Model& model) {
  std::vector<std::unique_ptr<GraphExample>> examples;
  CrfTrainInput input;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const Scene scene = draw_scene(seed);
    CrfGraph graph = make_graph(scene, model);
    for (int i = 0; i < kPixels; ++i) graph.add_to_wrong_labels(i, scene.truth[i], -1);  // margin
    std::vector<int> observed = scene.truth;
    observed.resize(graph.num_variables(), -1);  // which label a region has is latent
    examples.push_back(std::make_unique<GraphExample>(std::move(graph), observed, kPixels));
    input.examples.push_back(examples.back().get());
  }
  input.start = {3, 0.5, 0.5, 0.3, 3};
  CrfTrainOptions options;
  options.max_iterations = 60;
  return train_latent_crf(input, options).weights;
}

using Rows = std::vector<std::vector<std::array<double, 3>>>;  // images side by side

double share_of_wrong_pixels(const Model& model, const std::vector<double>& w, Rows& rows) {
  double wrong = 0;
  rows.emplace_back();
  for (uint64_t seed = 101; seed <= 106; ++seed) {
    const Scene scene = draw_scene(seed);
    const CrfSolution found = minimise_crf(make_graph(scene, model), w, 40);
    for (int i = 0; i < kPixels; ++i) {
      wrong += found.labels[i] != scene.truth[i];
      rows.back().push_back(kColors[found.labels[i]]);
    }
  }
  return wrong / (6 * kPixels);
}

// What is seen, the truth, and what each model finds, below each other, three times as large.
void write_scenes(const std::string& path, Rows rows) {
  Rows all(2);
  for (uint64_t seed = 101; seed <= 106; ++seed) {
    const Scene scene = draw_scene(seed);
    for (int i = 0; i < kPixels; ++i) {
      all[0].push_back(scene.seen[i]);
      all[1].push_back(kColors[scene.truth[i]]);
    }
  }
  all.insert(all.end(), rows.begin(), rows.end());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return;
  const int scale = 3;
  std::fprintf(file, "P6\n%d %d\n255\n", 6 * kSide * scale,
               static_cast<int>(all.size()) * kSide * scale);
  for (const auto& row : all)
    for (int y = 0; y < kSide * scale; ++y)
      for (int image = 0; image < 6; ++image)
        for (int x = 0; x < kSide * scale; ++x)
          for (const double value : row[image * kPixels + y / scale * kSide + x / scale])
            std::fputc(static_cast<int>(255 * std::clamp(value, 0.0, 1.0)), file);
  std::fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<double> errors;
  Rows rows;
  for (const Model& model : {Model{false, false}, Model{true, false}, Model{true, true}}) {
    const std::vector<double> w = train(model);
    errors.push_back(share_of_wrong_pixels(model, w, rows));
    std::printf("%-18s wrong pixels %.3f   weights %.2f %.2f %.2f %.3f %.2f\n",
                model.has_regions ? "pairs and regions"
                : model.has_pairs ? "pairs"
                                  : "pixels alone",
                errors.back(), w[0], w[1], w[2], w[3], w[4]);
  }
  if (argc > 1) write_scenes(std::string(argv[1]) + "/scenes.ppm", rows);
  return errors[0] > errors[1] && errors[1] > errors[2] ? 0 : 1;
}

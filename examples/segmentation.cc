// SPDX-License-Identifier: Apache-2.0
// Binary segmentation as a model of the general trainer (crf/train.h): every pixel sees the truth
// through noise (weight 0), neighbours like to agree (Potts, weight 1), and every block of pixels
// has a latent choice: all foreground, all background, or mixed (latent P^n cliques, weights 2 and
// 3). The grid of Potts factors is one slave, minimised by a cut; each clique is another, in closed
// form. Prints the share of wrong pixels on new images for unaries alone, with Potts and with
// both; ends with 1 when more structure does not help.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/crf/graph_example.h"

using namespace milieu;

namespace {

constexpr int kSide = 24, kBlock = 4, kPixels = kSide * kSide;

struct Picture {
  std::vector<double> seen;  // truth + noise
  std::vector<int> truth;
};

// Blocks are foreground or background as a whole, most of them like their left neighbour.
Picture draw_picture(uint64_t seed) {
  Random random(seed);
  constexpr int kBlocks = kSide / kBlock;
  std::vector<int> blocks(kBlocks * kBlocks);
  for (int b = 0; b < kBlocks * kBlocks; ++b)
    blocks[b] = b % kBlocks > 0 && random.bernoulli(0.6) ? blocks[b - 1] : random.bernoulli(0.5);
  Picture picture;
  for (int i = 0; i < kPixels; ++i) {
    const int block = i / kSide / kBlock * kBlocks + i % kSide / kBlock;
    picture.truth.push_back(blocks[block]);
    picture.seen.push_back(blocks[block] + 1.3 * random.normal());
  }
  return picture;
}

struct Model {
  bool has_potts = false, has_cliques = false;
};

CrfGraph make_graph(const Picture& picture, const Model& model) {
  CrfGraph graph;
  for (const double seen : picture.seen)
    graph.add_variable({weighted_cost(0, seen - 0.5), weighted_cost(0, 0.5 - seen)});
  if (model.has_potts) {
    std::vector<std::shared_ptr<const CrfFactor>> edges;
    for (int i = 0; i < kPixels; ++i) {
      if (i % kSide + 1 < kSide)
        edges.push_back(std::make_shared<PottsFactor>(i, i + 1, 2, weighted_cost(1)));
      if (i + kSide < kPixels)
        edges.push_back(std::make_shared<PottsFactor>(i, i + kSide, 2, weighted_cost(1)));
    }
    graph.add_slave(std::make_shared<CutSlave>(edges));
  }
  for (int corner = 0; corner < kPixels && model.has_cliques; ++corner) {
    if (corner % kBlock != 0 || corner / kSide % kBlock != 0) continue;
    std::vector<int> members;
    for (int dy = 0; dy < kBlock; ++dy)
      for (int dx = 0; dx < kBlock; ++dx) members.push_back(corner + dy * kSide + dx);
    const int choice = graph.add_variable({{}, {}, {}});
    graph.add_clique(
        std::make_shared<LatentPnFactor>(choice, members, 2, weighted_cost(2), weighted_cost(3)));
  }
  return graph;
}

std::vector<double> train(const Model& model) {
  std::vector<std::unique_ptr<GraphExample>> examples;
  CrfTrainInput input;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const Picture picture = draw_picture(seed);
    CrfGraph graph = make_graph(picture, model);
    for (int i = 0; i < kPixels; ++i) graph.add_to_wrong_labels(i, picture.truth[i], -1);  // margin
    std::vector<int> observed = picture.truth;
    observed.resize(graph.num_variables(), -1);  // the choices of the cliques are latent
    examples.push_back(std::make_unique<GraphExample>(std::move(graph), observed, kPixels));
    input.examples.push_back(examples.back().get());
  }
  input.start = {1, 0.5, 0.5, 1};
  CrfTrainOptions options;
  options.max_iterations = 60;
  return train_latent_crf(input, options).weights;
}

double share_of_wrong_pixels(const Model& model, const std::vector<double>& w) {
  double wrong = 0;
  for (uint64_t seed = 101; seed <= 104; ++seed) {
    const Picture picture = draw_picture(seed);
    const CrfSolution found = minimise_crf(make_graph(picture, model), w, 40);
    for (int i = 0; i < kPixels; ++i) wrong += found.labels[i] != picture.truth[i];
  }
  return wrong / (4 * kPixels);
}

}  // namespace

int main() {
  std::vector<double> errors;
  for (const Model& model : {Model{false, false}, Model{true, false}, Model{true, true}}) {
    const std::vector<double> w = train(model);
    errors.push_back(share_of_wrong_pixels(model, w));
    std::printf("%-22s wrong pixels %.3f   weights %.3f %.3f %.3f %.3f\n",
                model.has_cliques ? "Potts and latent P^n"
                : model.has_potts ? "Potts"
                                  : "unaries",
                errors.back(), w[0], w[1], w[2], w[3]);
  }
  return errors[0] > errors[1] && errors[1] > errors[2] ? 0 : 1;
}

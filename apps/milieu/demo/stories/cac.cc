// SPDX-License-Identifier: Apache-2.0
// A wall of images: each region has all kinds, only in other shares, so that one image says little
// about the region that it hangs in.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "demo/stories/stories.h"
#include "milieu/neighbors/neighbors.h"

namespace milieu::cli {

namespace {

constexpr int kTiles = 28;    // per side
constexpr double kOwn = 0.5;  // share of the region's own kind; the rest is any of the others
constexpr double kWave = 0.08;
constexpr int kNear = 10, kFar = 40;  // neighbours: as many as cac takes, and a wider circle

// A wave of period 1 without trigonometry: parabolas, in [-1, 1].
double wave(double t) {
  t -= std::floor(t);
  return t < 0.5 ? 8 * t * (1 - 2 * t) : -8 * (t - 0.5) * (2 - 2 * t);
}

// Quarters with wavy borders, row after row of tiles.
std::vector<int> draw_regions(Random random) {
  const double phase_x = random.uniform(), phase_y = random.uniform();
  std::vector<int> regions;
  for (int y = 0; y < kTiles; ++y)
    for (int x = 0; x < kTiles; ++x) {
      const double u = (x + 0.5) / kTiles, v = (y + 0.5) / kTiles;
      const bool is_right = u + kWave * wave(v + phase_x) > 0.5;
      const bool is_low = v + kWave * wave(u + phase_y) > 0.5;
      regions.push_back(2 * is_low + is_right);
    }
  return regions;
}

// The mean of every tile and its `count` nearest.
DemoSet average(const DemoSet& wall, FloatView places, int count) {
  DemoSet set{.name = fmt::format("wall_means_{}", count),
              .about = fmt::format("each image averaged with its {} neighbours", count),
              .rows = Matrix<float>(wall.rows.rows(), wall.rows.cols()),
              .image_side = wall.image_side,
              .truths = wall.truths};
  const NeighborLists near = nearest_neighbors(places, places, count + 1);
  for (int64_t i = 0; i < set.rows.rows(); ++i)
    for (int64_t k = 0; k < near.indices.cols(); ++k)
      for (int64_t t = 0; t < set.rows.cols(); ++t)
        set.rows(i, t) +=
            wall.rows(near.indices(i, k), t) / static_cast<float>(near.indices.cols());
  return set;
}

DemoSet hang_wall(ImagePool& pool, const std::array<std::string, 4>& kinds, Random random) {
  const std::vector<int> regions = draw_regions(random.child(0));
  DemoSet wall{.name = "wall", .about = "each image alone", .rows = {}, .truths = {}};
  wall.image_side = pool.side();
  wall.rows = Matrix<float>(static_cast<int64_t>(kTiles) * kTiles, pool.side() * pool.side());
  Random draw = random.child(1);
  for (int64_t i = 0; i < wall.rows.rows(); ++i) {
    const int own = regions[static_cast<size_t>(i)];
    const int kind =
        draw.bernoulli(kOwn) ? own : (own + 1 + static_cast<int>(draw.uniform_index(3))) % 4;
    const std::span<const float> image = pool.take(kinds[static_cast<size_t>(kind)]);
    std::copy(image.begin(), image.end(), wall.rows.row(i));
  }
  wall.truths = {
      make_truth("region", {"bottom-left", "bottom-right", "top-left", "top-right"}, [&] {
        std::vector<int> named;
        for (const int region : regions) named.push_back((region + 2) % 4);
        return named;
      }())};
  return wall;
}

}  // namespace

DemoStory tell_cac(uint64_t seed, ImagePool& pool) {
  const auto kinds = pool.has_garments()
                         ? std::array<std::string, 4>{"t-shirt", "sneaker", "trousers", "bag"}
                         : std::array<std::string, 4>{"square", "ring", "triangle", "cross"};
  DemoStory story;
  story.name = "cac";
  story.question = "Which parts of the wall belong together?";
  story.about = fmt::format(
      "A wall of {0} x {0} images of {1}. It has four regions, each with one kind in half of its "
      "places and any of the other three kinds in the rest: every kind hangs everywhere, so an "
      "image alone cannot say which region it is in.",
      kTiles, pool.about());
  story.context =
      "The context of an image is its ten neighbours on the wall. cac finds words (what hangs "
      "there) and phrases (which words hang together), and groups pass their evidence on to the "
      "groups around them, so that the reach of the context grows from round to round.";
  story.limits =
      "If you know how far the context reaches, you can average it yourself: a normalized cut of "
      "averages over 40 neighbours is about as good as cac. Averages over ten, as "
      "many as cac is given, are not, and nothing in the data says which number is right.";
  story.sets.push_back(hang_wall(pool, kinds, Random(seed).child(10)));
  Matrix<float> places(static_cast<int64_t>(kTiles) * kTiles, 2);
  for (int i = 0; i < kTiles * kTiles; ++i) {
    places(i, 0) = static_cast<float>(i % kTiles);
    places(i, 1) = static_cast<float>(i / kTiles);
  }
  story.sets.push_back(average(story.sets[0], places.view(), kNear));
  story.sets.push_back(average(story.sets[0], places.view(), kFar));
  story.sets.push_back({.name = "wall_places",
                        .about = "where each image hangs",
                        .rows = std::move(places),
                        .truths = {}});
  story.grid_side = kTiles;
  story.columns = {{"region", "regions"}};
  story.jobs = plain_jobs("wall", "region", 4);
  for (const int count : {kNear, kFar})
    story.jobs.push_back(
        {.name = fmt::format("means-{}", count),
         .title = fmt::format("normalized cut, averages over {} neighbours", count),
         .is_averaged = true,
         .method = "ncut",
         .set = fmt::format("wall_means_{}", count),
         .truth = "region",
         .options = {{"num_clusters", "4"}},
         .is_shown = true});
  story.jobs[0].is_shown = true;
  story.jobs.push_back({.name = "wall",
                        .title = "cac, 10 neighbours as groups",
                        .sees_context = true,
                        .method = "cac",
                        .set = "wall",
                        .truth = "region",
                        .options = {{"num_phrases", "4"}},
                        .files = {{"positions", "wall_places.npy"}},
                        .is_shown = true});
  story.next =
      "milieu cac DEMO/wall.npy --positions DEMO/wall_places.npy --phrases 4 --rounds 1 "
      "--truth DEMO/wall_region.csv";
  story.next_meaning = "How much is due to passing the evidence on? One round in place of ten:";
  return story;
}

}  // namespace milieu::cli

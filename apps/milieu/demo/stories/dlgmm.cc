// SPDX-License-Identifier: Apache-2.0
// Scenes of small marks that all consist of the same strokes: only where which marks lie tells the
// scenes apart.
#include <algorithm>
#include <array>
#include <cmath>

#include "demo/stories/stories.h"

namespace milieu::cli {

namespace {

constexpr int kSide = 128;
constexpr int kImagesOfClass = 40;
constexpr int kCells = 5;       // marks per side
constexpr double kStray = 0.3;  // share of marks that are any mark
constexpr double kMissing = 0.12;

struct Stroke {
  double x0, y0, x1, y1;
};
// Corners, tees, crosses, elbows: one stroke across, one down.
using Mark = std::array<Stroke, 2>;
constexpr std::array<Mark, 4> kMarks = {{{{{-1, -1, -1, 1}, {-1, 1, 1, 1}}},
                                         {{{-1, -1, 1, -1}, {0, -1, 0, 1}}},
                                         {{{-1, 0, 1, 0}, {0, -1, 0, 1}}},
                                         {{{1, -1, 1, 1}, {-1, -1, 1, -1}}}}};
struct SceneKind {
  const char* name;
  int top, bottom;
};
// In the order of their names, as the folder will be read.
constexpr std::array<SceneKind, 4> kKinds = {{{"corners-above-tees", 0, 1},
                                              {"crosses-above-elbows", 2, 3},
                                              {"elbows-above-crosses", 3, 2},
                                              {"tees-above-corners", 1, 0}}};

double distance(double x, double y, const Stroke& s, double size) {
  const auto beyond = [](double v, double a, double b) {
    return std::max({std::min(a, b) - v, v - std::max(a, b), 0.0});
  };
  const double dx = beyond(x, size * s.x0, size * s.x1), dy = beyond(y, size * s.y0, size * s.y1);
  return std::sqrt(dx * dx + dy * dy);
}

void add_mark(const Mark& mark, double cx, double cy, Random& random, std::span<float> pixels) {
  const double size = random.uniform(6.8, 9.6);
  const double strength = (random.bernoulli(0.5) ? 1 : -1) * random.uniform(0.2, 0.4);
  const int reach = 14;
  for (int py = std::max(0, static_cast<int>(cy) - reach);
       py < std::min(kSide, static_cast<int>(cy) + reach); ++py)
    for (int px = std::max(0, static_cast<int>(cx) - reach);
         px < std::min(kSide, static_cast<int>(cx) + reach); ++px) {
      double cover = 0;
      for (const Stroke& stroke : mark)
        cover = std::max(
            cover,
            std::clamp(2.3 - distance(px + 0.5 - cx, py + 0.5 - cy, stroke, size), 0.0, 1.0));
      pixels[static_cast<size_t>(py * kSide + px)] += static_cast<float>(strength * cover);
    }
}

void draw_scene(const SceneKind& kind, Random random, std::span<float> pixels) {
  const double level = 0.5 + random.uniform(-0.1, 0.1);
  const double slope_x = random.uniform(-0.15, 0.15), slope_y = random.uniform(-0.15, 0.15);
  for (int i = 0; i < kSide * kSide; ++i) {
    const double x = static_cast<double>(i % kSide) / kSide - 0.5;
    const double y = static_cast<double>(i / kSide) / kSide - 0.5;
    pixels[static_cast<size_t>(i)] =
        static_cast<float>(level + slope_x * x + slope_y * y + 0.05 * random.normal());
  }
  constexpr double kCell = static_cast<double>(kSide) / kCells;
  for (int cell = 0; cell < kCells * kCells; ++cell) {
    const int row = cell / kCells;
    const bool is_above = row < kCells / 2 || (row == kCells / 2 && random.bernoulli(0.5));
    const bool is_missing = random.bernoulli(kMissing), is_stray = random.bernoulli(kStray);
    const auto stray = static_cast<size_t>(random.uniform_index(kMarks.size()));
    const double cx = kCell * (cell % kCells + 0.5) + random.uniform(-3, 3);
    const double cy = kCell * (row + 0.5) + random.uniform(-3, 3);
    const auto own = static_cast<size_t>(is_above ? kind.top : kind.bottom);
    if (!is_missing) add_mark(kMarks[is_stray ? stray : own], cx, cy, random, pixels);
  }
  for (float& pixel : pixels) pixel = std::clamp(pixel, 0.0f, 1.0f);
}

DemoJob job(std::string name, std::string title, std::string method, std::string feature,
            DemoOptions options) {
  DemoJob made{.name = std::move(name),
               .title = std::move(title),
               .method = std::move(method),
               .set = "scenes",
               .truth = "",
               .options = std::move(options),
               .feature = std::move(feature)};
  made.sees_context = made.method == "dlgmm";
  made.is_shown = made.name == "joint" || made.name == "ncut";
  return made;
}

}  // namespace

DemoStory tell_dlgmm(uint64_t seed) {
  const Random random = Random(seed).child(50);
  DemoStory story;
  story.name = "dlgmm";
  story.question = "Which images belong together, with which codebook?";
  story.about =
      "Scenes of small marks, drawn on the spot: corners, tees, crosses and elbows, bright or "
      "dark, "
      "each made of one stroke across and one down. The kinds of scene have different marks above "
      "and below. A description of the whole image sees much the same strokes everywhere, and a "
      "bag of words is clustered without knowing which words go together.";
  story.context =
      "For dlgmm, the context of a patch is the other patches of its image, and the other images "
      "of its cluster: what is a word, and where in the image it belongs, is learned together with "
      "the clusters.";
  story.limits =
      "Here the clusters do the work, not the codebook: with the words of k-means kept fixed "
      "(--fix codebook) the result is much the same. For whole images that a network describes "
      "well, a normalized cut of its vectors is ahead.";
  DemoSet scenes{.name = "scenes", .about = "four kinds of scene", .rows = {}, .truths = {}};
  scenes.image_side = kSide;
  scenes.is_folder = true;
  scenes.rows = Matrix<float>(static_cast<int64_t>(kKinds.size()) * kImagesOfClass, kSide * kSide);
  std::vector<std::string> names;
  std::vector<int> kinds;
  for (size_t k = 0; k < kKinds.size(); ++k) {
    names.push_back(kKinds[k].name);
    for (int i = 0; i < kImagesOfClass; ++i) {
      const auto row = static_cast<int64_t>(kinds.size());
      draw_scene(kKinds[k], random.child(static_cast<uint64_t>(row)), scenes.rows.row_span(row));
      kinds.push_back(static_cast<int>(k));
    }
  }
  scenes.truths = {make_truth("kind", names, kinds)};
  story.sets.push_back(std::move(scenes));
  story.columns = {{"kind", "kind of scene"}};
  story.jobs = {
      job("kmeans", "k-means, gist", "kmeans", "gist", {{"num_clusters", "4"}}),
      job("ncut", "normalized cut, gist", "ncut", "gist", {{"num_clusters", "4"}}),
      job("bags", "bags of 60 words", "bags", "dense-sift:words=60", {{"num_clusters", "4"}}),
      job("bands", "bags of 60 words in 3 bands", "bags", "dense-sift:words=60",
          {{"num_clusters", "4"}, {"num_bands", "3"}}),
      job("fixed", "dlgmm, words of k-means kept", "dlgmm", "",
          {{"num_words", "60"},
           {"num_clusters", "4"},
           {"fix", "codebook"},
           {"image_feature", "none"}}),
      job("joint", "dlgmm", "dlgmm", "",
          {{"num_words", "60"}, {"num_clusters", "4"}, {"image_feature", "none"}})};
  story.sheets = {{"The scenes, by kind", "scenes", "kind"}};
  story.next = "milieu predict DEMO/runs/dlgmm-joint DEMO/scenes --out predicted.csv";
  story.next_meaning = "Clusters of images that the model has not seen; any folder would do:";
  return story;
}

}  // namespace milieu::cli

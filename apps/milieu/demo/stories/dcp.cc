// SPDX-License-Identifier: Apache-2.0
// Bars that lie or stand, on two grounds: which of the two splits is asked for only the context can
// say.
#include <algorithm>
#include <cmath>

#include "demo/stories/stories.h"

namespace milieu::cli {

namespace {

constexpr int kSide = 24;
constexpr int kSetSize = 200, kContextSize = 100;
constexpr double kTilt = 0.14;                 // standard deviation of the slope
constexpr double kGround = 0.35, kStep = 0.1;  // brightness: middle, and to either side
constexpr double kContrast = 0.4, kNoise = 0.05;

struct Direction {
  double x = 1, y = 0;
};

// The bar's pixels: how much of each it covers.
void add_bar(Direction along, Random& random, std::span<float> pixels) {
  const double tilt = kTilt * random.normal();
  const double length = std::sqrt(1 + tilt * tilt);
  const Direction u{(along.x - tilt * along.y) / length, (along.y + tilt * along.x) / length};
  const double cx = kSide / 2.0 + random.uniform(-2, 2), cy = kSide / 2.0 + random.uniform(-2, 2);
  const double half_width = random.uniform(1.5, 3), half_length = random.uniform(7, 11);
  for (int i = 0; i < kSide * kSide; ++i) {
    const double x = i % kSide + 0.5 - cx, y = i / kSide + 0.5 - cy;
    const double far = std::abs(u.x * x + u.y * y), side = std::abs(u.x * y - u.y * x);
    const double cover = std::clamp(half_length - far + 0.5, 0.0, 1.0) *
                         std::clamp(half_width - side + 0.5, 0.0, 1.0);
    pixels[static_cast<size_t>(i)] += static_cast<float>(kContrast * cover);
  }
}

void finish(double ground, Random& random, std::span<float> pixels) {
  const double level = ground + 0.03 * random.normal();
  for (float& pixel : pixels)
    pixel = static_cast<float>(std::clamp(level + pixel + kNoise * random.normal(), 0.0, 1.0));
}

// Directions and grounds in turn, so that they have nothing to do with each other.
DemoSet draw_bars(std::string name, std::string about, int count, const Direction (&along)[2],
                  const double (&grounds)[2], const Random& random) {
  DemoSet set{.name = std::move(name), .about = std::move(about), .rows = {}, .truths = {}};
  set.rows = Matrix<float>(count, kSide * kSide);
  set.image_side = kSide;
  for (int i = 0; i < count; ++i) {
    Random stream = random.child(static_cast<uint64_t>(i));
    add_bar(along[i % 2], stream, set.rows.row_span(i));
    finish(grounds[i / 2 % 2], stream, set.rows.row_span(i));
  }
  return set;
}

DemoJob seen_against(const std::string& context, const std::string& title,
                     const std::string& truth) {
  return {.name = context,
          .title = "dcp, seen against " + title,
          .sees_context = true,
          .method = "dcp",
          .set = "bars",
          .truth = truth,
          .options = {{"num_clusters", "2"}},
          .files = {{"context", context + ".npy"}},
          .is_shown = true};
}

}  // namespace

DemoStory tell_dcp(uint64_t seed) {
  const Random random = Random(seed).child(20);
  const double half = std::sqrt(0.5);
  constexpr Direction kLie{1, 0}, kStand{0, 1};
  const double dark = kGround - kStep, light = kGround + kStep;
  DemoStory story;
  story.name = "dcp";
  story.question = "How does this set split, seen against that one?";
  story.about =
      "Bars that lie or stand, on dark or light ground, drawn on the spot. The set can be halved "
      "by "
      "direction or by ground, and nothing in the set says which is meant: one baseline follows "
      "one of the two, another the other.";
  story.context =
      "The context says it. Beside diagonal bars on the same two grounds, only the direction sets "
      "the images apart; beside bars of both directions on a ground in between, only the ground "
      "does. The same set, two contexts, two splits.";
  story.limits =
      "A context that has nothing to do with either factor decides nothing: the program then "
      "reports a low confidence.";
  story.sets.push_back(draw_bars("bars", "lying or standing bars on dark or light ground", kSetSize,
                                 {kLie, kStand}, {dark, light}, random.child(0)));
  std::vector<int> direction, ground;
  for (int i = 0; i < kSetSize; ++i) {
    direction.push_back(i % 2);
    ground.push_back(i / 2 % 2);
  }
  story.sets[0].truths = {make_truth("direction", {"lying", "standing"}, direction),
                          make_truth("ground", {"dark", "light"}, ground)};
  story.sets.push_back(draw_bars("diagonal", "diagonal bars on the same grounds", kContextSize,
                                 {{half, half}, {half, -half}}, {dark, light}, random.child(1)));
  story.sets.push_back(draw_bars("between", "lying or standing bars on a ground in between",
                                 kContextSize, {kLie, kStand}, {kGround, kGround},
                                 random.child(2)));
  story.columns = {{"direction", "by direction"}, {"ground", "by ground"}};
  story.is_asked_all = true;
  story.jobs = plain_jobs("bars", "direction", 2);
  story.jobs.push_back(seen_against("diagonal", "diagonal bars", "direction"));
  story.jobs.push_back(seen_against("between", "a ground in between", "ground"));
  story.sheets = {{"The set, by direction", "bars", "direction"},
                  {"One context: diagonal bars", "diagonal"},
                  {"Another: a ground in between", "between"}};
  story.next =
      "milieu dcp DEMO/bars.npy -k 4 --context DEMO/diagonal.npy --labels DEMO/bars_direction.csv "
      "--image-size 24x24 --out my-split";
  story.next_meaning = "Four parts in place of two, with a report in my-split/report.html:";
  return story;
}

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// Discs of all sizes: their class has no gap, but those of another maker lie in the middle of it.
#include <algorithm>
#include <cmath>

#include "demo/stories/stories.h"

namespace milieu::cli {

namespace {

constexpr int kSide = 24;
constexpr int kOurs = 600, kTheirs = 450;
constexpr double kMeanSize = 0.5, kSpread = 0.18;  // of our discs
constexpr double kTheirSize = 0.35, kTheirSpread = 0.05;
constexpr double kNoise = 0.06;

void draw_disc(double size, Random& random, std::span<float> pixels) {
  const double cx = kSide / 2.0 + 0.4 * random.normal(), cy = kSide / 2.0 + 0.4 * random.normal();
  const double radius = 2 + 9 * size;
  for (int i = 0; i < kSide * kSide; ++i) {
    const double x = i % kSide + 0.5 - cx, y = i / kSide + 0.5 - cy;
    const double cover = std::clamp(radius - std::sqrt(x * x + y * y) + 0.5, 0.0, 1.0);
    const double value = 0.15 + 0.7 * cover + kNoise * random.normal();
    pixels[static_cast<size_t>(i)] = static_cast<float>(std::clamp(value, 0.0, 1.0));
  }
}

}  // namespace

DemoStory tell_icc(uint64_t seed) {
  const Random random = Random(seed).child(30);
  DemoStory story;
  story.name = "icc";
  story.question = "Which sub-classes does this class have?";
  story.about =
      "Discs of two makers. Ours come in all sizes, most of them in the middle: by themselves they "
      "have no gap, and a method that sees only them cuts where it likes. Theirs have one size, "
      "below our middle. What people mean by our small and our large discs is: smaller and larger "
      "than theirs.";
  story.context =
      "icc compares the density of our discs with that of all others. Where theirs lie, the "
      "difference has a valley, and ours become two sub-classes: the small and the large ones. "
      "The number of sub-classes is found, not told.";
  story.limits =
      "Where a class has gaps of its own, a mixture or a normalized cut of the class alone, told "
      "the number, does as well or better.";
  std::vector<double> sizes;
  Random draw = random.child(0);
  for (int i = 0; i < kOurs + kTheirs; ++i)
    sizes.push_back(std::clamp(
        i < kOurs ? kMeanSize + kSpread * draw.normal() : kTheirSize + kTheirSpread * draw.normal(),
        0.0, 1.0));
  std::sort(sizes.begin(), sizes.begin() + kOurs);  // so that strips of images grow
  DemoSet all{.name = "discs", .about = "discs of both makers", .rows = {}, .truths = {}};
  all.image_side = kSide;
  all.rows = Matrix<float>(kOurs + kTheirs, kSide * kSide);
  DemoSet ours{.name = "our_discs", .about = "our discs alone", .rows = {}, .truths = {}};
  ours.image_side = kSide;
  ours.rows = Matrix<float>(kOurs, kSide * kSide);
  std::vector<int> maker, size_of_all, size_of_ours;
  for (int i = 0; i < kOurs + kTheirs; ++i) {
    Random stream = random.child(static_cast<uint64_t>(i) + 1);
    draw_disc(sizes[static_cast<size_t>(i)], stream, all.rows.row_span(i));
    const int size = sizes[static_cast<size_t>(i)] > kTheirSize ? 0 : 1;
    maker.push_back(i < kOurs ? 0 : 1);
    size_of_all.push_back(i < kOurs ? size : -1);
    if (i >= kOurs) continue;
    size_of_ours.push_back(size);
    std::copy_n(all.rows.row(i), kSide * kSide, ours.rows.row(i));
  }
  all.truths = {make_truth("maker", {"ours", "theirs"}, maker),
                make_truth("size", {"large", "small"}, size_of_all)};
  ours.truths = {make_truth("size", {"large", "small"}, size_of_ours)};
  story.sets = {std::move(all), std::move(ours)};
  story.columns = {{"size", "our discs, small or large"}};
  story.jobs = plain_jobs("our_discs", "size", 2);
  story.jobs[0].is_shown = true;
  story.jobs.push_back({.name = "discs",
                        .title = "icc, seen against theirs",
                        .sees_context = true,
                        .method = "icc",
                        .set = "discs",
                        .truth = "",
                        .options = {{"bandwidth", "0.15"}},
                        .classes = "maker",
                        .is_shown = true});
  story.sheets = {{"The discs, by maker", "discs", "maker"}};
  story.next =
      "milieu icc DEMO/discs.npy --labels DEMO/discs_maker.csv --bandwidth 0.15 --bootstrap 20 "
      "--image-size 24x24";
  story.next_meaning = "How certain is each sub-class? Twenty resamples say:";
  return story;
}

}  // namespace milieu::cli

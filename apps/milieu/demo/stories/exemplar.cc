// SPDX-License-Identifier: Apache-2.0
// New kinds of images are grouped as three other kinds were in an example: a distance is learned
// from them.
#include <fmt/format.h>

#include <algorithm>

#include "demo/stories/stories.h"
#include "milieu/classify/lda.h"
#include "milieu/render/raster_draw.h"

namespace milieu::cli {

namespace {

constexpr int kTaughtOfKind = 36, kNewOfKind = 48;
constexpr double kGrounds[3] = {0, 0.25, 0.5};
constexpr int kLetterSide = 28, kLetterScale = 3;
constexpr double kRidge = 1;  // of each pixel's variance: strong, there are few examples

// A letter in white, not quite in its place, of some strength, with noise.
std::vector<float> draw_letter(const std::string& letter, Random& random) {
  constexpr int kLeft = (kLetterSide - 5 * kLetterScale) / 2;  // letters have 5 x 7 dots
  constexpr int kTop = (kLetterSide - 7 * kLetterScale) / 2;
  RasterImage image(kLetterSide, kLetterSide, 3);
  const int x = kLeft + static_cast<int>(random.uniform_index(3)) - 1;
  const int y = kTop + static_cast<int>(random.uniform_index(3)) - 1;
  draw_text(image, x, y, letter, {255, 255, 255}, kLetterScale);
  const double strength = random.uniform(0.6, 1);
  std::vector<float> pixels;
  for (size_t i = 0; i < image.pixels.size(); i += 3) {
    const double ink = strength * image.pixels[i] / 255 + 0.3 * random.normal();
    pixels.push_back(static_cast<float>(std::clamp(ink, 0.0, 1.0)));
  }
  return pixels;
}

// Half as many pixels per side, on one of three grounds.
void add_image(std::span<const float> image, int side, double ground, std::span<float> row) {
  const int half = side / 2;
  for (int y = 0; y < half; ++y)
    for (int x = 0; x < half; ++x) {
      const auto at = [&](int dx, int dy) {
        return image[static_cast<size_t>((2 * y + dy) * side + 2 * x + dx)];
      };
      const double ink = (at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1)) / 4;
      row[static_cast<size_t>(y * half + x)] =
          static_cast<float>(std::min(1.0, ground + 0.9 * (1 - ground) * ink));
    }
}

DemoSet draw_set(std::string name, std::string about, const std::vector<std::string>& kinds,
                 int of_kind, ImagePool& pool, Random random) {
  const int side = pool.has_garments() ? pool.side() : kLetterSide, half = side / 2;
  DemoSet set{.name = std::move(name), .about = std::move(about), .rows = {}, .truths = {}};
  set.image_side = half;
  set.rows = Matrix<float>(static_cast<int64_t>(kinds.size()) * of_kind, half * half);
  std::vector<int> kind;
  for (size_t k = 0; k < kinds.size(); ++k)
    for (int i = 0; i < of_kind; ++i) {
      const double ground = std::max(0.0, kGrounds[i % 3] + 0.02 * random.normal());
      const std::span<float> row = set.rows.row_span(static_cast<int64_t>(kind.size()));
      if (pool.has_garments())
        add_image(pool.take(kinds[k]), side, ground, row);
      else
        add_image(draw_letter(kinds[k], random), side, ground, row);
      kind.push_back(static_cast<int>(k));
    }
  set.truths = {make_truth("kind", kinds, kind)};
  return set;
}

template <class To, class View>
Matrix<To> converted(const View& from) {
  Matrix<To> to(from.rows(), from.cols());
  for (int64_t i = 0; i < from.rows(); ++i)
    for (int64_t t = 0; t < from.cols(); ++t) to(i, t) = static_cast<To>(from(i, t));
  return to;
}

DemoSet discriminant(const DemoSet& taught, const DemoSet& fresh) {
  const auto known = converted<double>(taught.rows), rows = converted<double>(fresh.rows);
  const LdaModel lda = fit_lda(known.view(), taught.truths[0].labels.indices, {.ridge = kRidge});
  DemoSet set{.name = "new_lda",
              .about = "the new images on the discriminant axes of the example",
              .rows = converted<float>(project(lda, rows.view())),
              .truths = fresh.truths};
  return set;
}

}  // namespace

DemoStory tell_exemplar(uint64_t seed, ImagePool& pool) {
  const Random random = Random(seed).child(40);
  const bool is_real = pool.has_garments();
  const auto taught_kinds = is_real ? std::vector<std::string>{"coat", "t-shirt", "trousers"}
                                    : std::vector<std::string>{"H", "L", "S"};
  const auto new_kinds =
      is_real ? std::vector<std::string>{"bag", "boot", "dress", "sneaker"}
              : std::vector<std::string>{"A", "E", "K", "N", "O", "T", "V", "X", "Z"};
  DemoStory story;
  story.name = "exemplar";
  story.question = "Which distance makes clusters like these?";
  story.about = "Images of " + (is_real ? pool.about() : "letters, drawn on the spot,") +
                " on three grounds. Pixel by pixel the ground counts most, so plain methods group "
                "half by ground. The example: three other kinds, grouped by kind on all grounds.";
  story.context =
      "exemplar learn finds the distance under which the example groups as shown, and "
      "exemplar --model groups kinds with it that were not in the example. Linear discriminant "
      "analysis learns from the same example, but only what separates its three kinds.";
  story.limits =
      "With many examples of the very classes that are to be found, shrunk discriminant analysis "
      "with a normalized cut is as good. The number of clusters is told in all rows but the "
      "last, which finds it.";
  story.sets.push_back(draw_set("new", "new kinds", new_kinds, kNewOfKind, pool, random.child(0)));
  story.sets.push_back(draw_set("example", "three kinds, grouped as wanted", taught_kinds,
                                kTaughtOfKind, pool, random.child(1)));
  story.sets.push_back(discriminant(story.sets[1], story.sets[0]));
  story.columns = {{"kind", "new kinds"}};
  const auto count = static_cast<int>(new_kinds.size());
  story.jobs = plain_jobs("new", "kind", count);
  story.jobs[1].is_shown = true;
  story.jobs.push_back({.name = "lda",
                        .title = "normalized cut on discriminant axes of the example",
                        .sees_context = false,
                        .method = "ncut",
                        .set = "new_lda",
                        .truth = "kind",
                        .options = {{"num_clusters", fmt::format("{}", count)}}});
  for (const bool is_told : {true, false})
    story.jobs.push_back({.name = is_told ? "told" : "found",
                          .title = is_told ? "exemplar, with the learned distance"
                                           : "the same, number of clusters found",
                          .sees_context = true,
                          .method = "exemplar",
                          .set = "new",
                          .truth = "kind",
                          .options = is_told
                                         ? DemoOptions{{"num_clusters", fmt::format("{}", count)}}
                                         : DemoOptions{},
                          .learn_from = "example.npy:example_kind.csv",
                          .is_shown = is_told});
  story.sheets = {{"The example: three kinds on three grounds", "example", "kind"},
                  {"New images, in no order", "new"}};
  story.next = "milieu exemplar learn DEMO/example.npy:DEMO/example_kind.csv --out my-distance";
  story.next_meaning = "Which pixels count, and how much? See my-distance/report.html:";
  return story;
}

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
#include "demo/demo_sets.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "milieu/base/assert.h"
#include "milieu/base/random.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/builtin.h"
#include "milieu/data/format/npy.h"
#include "milieu/linalg/pca.h"

namespace milieu::cli {

namespace {

constexpr int kNumComponents = 16;
constexpr float kThreshold = 0.5f;
constexpr int64_t kSamplesOfBar = 200;

DemoSet make_set(std::string name, std::string description, Matrix<float> points,
                 const Labels& labels) {
  DemoSet set;
  set.data.source = name + ".npy";
  set.data.points = Points(std::move(points));
  set.data.labels = labels;
  set.name = std::move(name);
  set.description = std::move(description);
  return set;
}

Matrix<float> threshold(FloatView pixels) {
  Matrix<float> binary(pixels);
  for (int64_t i = 0; i < binary.size(); ++i)
    binary.data()[i] = binary.data()[i] > kThreshold ? 1.0f : 0.0f;
  return binary;
}

DemoFamily make_shapes(uint64_t seed) {
  const Dataset shapes = make_builtin_shapes(seed);
  const FloatView pixels = shapes.points.view();
  DemoFamily family;
  family.name = "shapes";
  family.title = "Images of shapes";
  family.about = fmt::format(
      "{} images of {} x {} pixels, drawn on the spot: eight kinds of shape, each image with its "
      "own position, size, rotation, contrast and noise. Compared pixel by pixel, a moved shape "
      "is another image, a disc is nearly a square, and bars lie in any direction: the classes "
      "are there, but hard to find.",
      pixels.rows(), kBuiltinImageSide, kBuiltinImageSide);
  family.labels_file = "labels.csv";
  family.numbers_file = "labels.npy";
  family.image_side = kBuiltinImageSide;
  family.sets.push_back(make_set("shapes", "pixels", Matrix<float>(pixels), shapes.labels));
  family.sets.push_back(
      make_set("shapes_binary", "pixels, 0 or 1", threshold(pixels), shapes.labels));
  family.sets.push_back(make_set("shapes_pca",
                                 fmt::format("{} principal coordinates", kNumComponents),
                                 project(fit_pca(pixels, kNumComponents), pixels), shapes.labels));
  return family;
}

DemoFamily make_rings(uint64_t seed) {
  const Dataset rings = make_builtin_rings(seed);
  DemoFamily family;
  family.name = "rings";
  family.title = "Rings and moons";
  family.about =
      "Points in the plane: a core inside a ring, and two half moons that interlock. A method that "
      "describes a cluster by its centre has to cut through rings and moons; one that follows "
      "chains of neighbours need not.";
  family.labels_file = "rings_labels.csv";
  family.numbers_file = "rings_labels.npy";
  family.sets.push_back(
      make_set("rings", "plane", Matrix<float>(rings.points.view()), rings.labels));
  return family;
}

// `count` points in [0, width) x [0, height) moved to (left, bottom), from row `first` on.
void draw_box(double left, double bottom, double width, double height, int64_t first, int64_t count,
              Random& random, Matrix<float>& points) {
  for (int64_t i = first; i < first + count; ++i) {
    points(i, 0) = static_cast<float>(left + random.uniform(0, width));
    points(i, 1) = static_cast<float>(bottom + random.uniform(0, height));
  }
}

// The toy of [Lampert08, Figure 2].
DemoFamily make_ell(uint64_t seed) {
  Random random = Random(seed).child(3);
  Matrix<float> bars(2 * kSamplesOfBar, 2), context(kSamplesOfBar, 2);
  draw_box(0, 0, 1, 6, 0, kSamplesOfBar, random, bars);
  draw_box(0, 0, 6, 1, kSamplesOfBar, kSamplesOfBar, random, bars);
  draw_box(2, 2, 4, 4, 0, kSamplesOfBar, random, context);
  Labels labels;
  labels.names = {"flat", "upright"};
  labels.indices.assign(kSamplesOfBar, 1);
  labels.indices.resize(2 * kSamplesOfBar, 0);
  DemoFamily family;
  family.name = "ell";
  family.title = "An L seen against a context";
  family.about =
      "Two bars that overlap in a corner: no gap and no two dense regions separate them. dcp is "
      "given a second set, a square inside the L, and looks for the parts that are each best "
      "separated from that. The overlap alone costs any method 8 % on average.";
  family.labels_file = "ell_labels.csv";
  family.numbers_file = "ell_labels.npy";
  family.sets.push_back(make_set("ell", "plane", std::move(bars), labels));
  family.sets.push_back(make_set("ell_context", "plane, the context", std::move(context), {}));
  return family;
}

std::string class_names_text(const Labels& labels) {
  std::string text = "label\n";
  for (int index : labels.indices) text += labels.names[index] + "\n";
  return text;
}

}  // namespace

bool DemoFamily::holds_images(const DemoSet& set) const {
  return image_side > 0 && set.data.points.cols() == int64_t{image_side} * image_side;
}

std::vector<DemoFamily> make_demo_families(uint64_t seed) {
  std::vector<DemoFamily> families;
  families.push_back(make_shapes(seed));
  families.push_back(make_rings(seed));
  families.push_back(make_ell(seed));
  return families;
}

DemoSetPlace find_demo_set(const std::vector<DemoFamily>& families, const std::string& name) {
  for (const DemoFamily& family : families)
    for (const DemoSet& set : family.sets)
      if (set.name == name) return {&family, &set};
  MILIEU_ASSERT(false);  // a job of the table names a set that is not made
  return {};
}

void write_demo_files(const std::vector<DemoFamily>& families, const std::string& folder) {
  for (const DemoFamily& family : families) {
    for (const DemoSet& set : family.sets)
      write_npy(fmt::format("{}/{}.npy", folder, set.name), set.data.points.view());
    write_npy(fmt::format("{}/{}", folder, family.numbers_file),
              std::span<const int32_t>(family.labels().indices));
    write_file_atomically(fmt::format("{}/{}", folder, family.labels_file),
                          class_names_text(family.labels()));
  }
}

}  // namespace milieu::cli

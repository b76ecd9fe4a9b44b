// SPDX-License-Identifier: Apache-2.0
#include "demo_sets.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "milieu/base/assert.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/builtin.h"
#include "milieu/data/npy.h"
#include "milieu/linalg/pca.h"

namespace milieu::cli {

namespace {

constexpr int kNumComponents = 16;
constexpr float kThreshold = 0.5f;

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
  family.title = "Pictures of shapes";
  family.about = fmt::format(
      "{} pictures of {} x {} pixels, drawn on the spot: eight kinds of shape, each picture with "
      "its own position, size, rotation, contrast and noise. Compared pixel by pixel, a moved "
      "shape is another picture, a disc is nearly a square, and bars lie in any direction: the "
      "classes are there, but not for the taking.",
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

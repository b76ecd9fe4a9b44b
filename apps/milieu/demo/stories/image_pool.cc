// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "demo/stories/stories.h"
#include "milieu/base/assert.h"
#include "milieu/base/error.h"
#include "milieu/data/builtin.h"
#include "milieu/data/dataset.h"

namespace milieu::cli {

namespace {

constexpr const char* kFolder = "/usr/share/datasets/fashion-mnist/";  // of Debian's package
constexpr int kGarmentSide = 28;
constexpr int kShapesOfKind = 400;
// Classes 0 to 9 of Fashion-MNIST.
constexpr const char* kGarments[] = {"t-shirt", "trousers", "pullover", "dress", "coat",
                                     "sandal",  "shirt",    "sneaker",  "bag",   "boot"};

}  // namespace

ImagePool::ImagePool(uint64_t seed, bool with_garments) {
  if (!with_garments || !read_garments()) draw_shapes(seed);
  const Random random = Random(seed).child(60);
  for (size_t k = 0; k < kinds_.size(); ++k) {
    Random stream = random.child(k);
    stream.shuffle(std::span(kinds_[k].rows));
  }
}

// False when the package is not installed, or not as it should be.
bool ImagePool::read_garments() {
  const std::string folder = kFolder;
  if (!std::filesystem::exists(folder + "t10k-images-idx3-ubyte.gz")) return false;
  LoadOptions options;
  options.labels_path = folder + "t10k-labels-idx1-ubyte.gz";
  try {
    const Dataset data = load_dataset(folder + "t10k-images-idx3-ubyte.gz", options);
    if (data.points.cols() != kGarmentSide * kGarmentSide || data.labels.names.size() != 10)
      return false;
    images_ = Matrix<float>(data.points.view());
    for (float& pixel : std::span(images_.data(), static_cast<size_t>(images_.size())))
      pixel /= 255;
    for (const char* garment : kGarments) kinds_.push_back({garment, {}, 0});
    for (size_t i = 0; i < data.labels.indices.size(); ++i)
      kinds_[static_cast<size_t>(data.labels.indices[i])].rows.push_back(static_cast<int64_t>(i));
  } catch (const Error&) {
    return false;
  }
  side_ = kGarmentSide;
  has_garments_ = true;
  return true;
}

void ImagePool::draw_shapes(uint64_t seed) {
  const Dataset shapes = make_builtin_shapes(seed, kShapesOfKind);
  images_ = Matrix<float>(shapes.points.view());
  kinds_.clear();
  for (const std::string& name : shapes.labels.names) kinds_.push_back({name, {}, 0});
  for (size_t i = 0; i < shapes.labels.indices.size(); ++i)
    kinds_[static_cast<size_t>(shapes.labels.indices[i])].rows.push_back(static_cast<int64_t>(i));
  side_ = kBuiltinImageSide;
}

std::span<const float> ImagePool::take(const std::string& kind) {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                  [&](const Kind& candidate) { return candidate.name == kind; });
  MILIEU_ASSERT(found != kinds_.end() && found->next < found->rows.size());
  return image(found->rows[found->next++]);
}

std::string ImagePool::about() const {
  return has_garments_ ? "garments (Fashion-MNIST)" : "shapes, drawn on the spot";
}

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// The five stories, one file each, and what they draw with. Only arithmetic and square roots, which
// give the same bits on every platform.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "demo/demo_story.h"
#include "milieu/base/random.h"

namespace milieu::cli {

// Images by kind, drawn without replacement: garments of Debian's dataset-fashion-mnist, or our own
// shapes.
class ImagePool {
 public:
  ImagePool(uint64_t seed, bool with_garments);

  bool has_garments() const { return has_garments_; }
  int side() const { return side_; }
  // Pixels from 0 to 1 of the next image of the kind; the kind must exist and have one left.
  std::span<const float> take(const std::string& kind);
  // All images, whether taken or not.
  int64_t size() const { return images_.rows(); }
  std::span<const float> image(int64_t i) const {
    return {images_.row(i), static_cast<size_t>(images_.cols())};
  }
  // What the images are: "garments of Fashion-MNIST".
  std::string about() const;

 private:
  struct Kind {
    std::string name;
    std::vector<int64_t> rows;
    size_t next = 0;
  };
  bool read_garments();
  void draw_shapes(uint64_t seed);

  bool has_garments_ = false;
  int side_ = 0;
  Matrix<float> images_;
  std::vector<Kind> kinds_;
};

// A truth from the index of each sample; `names` in the order of their bytes.
DemoTruth make_truth(std::string name, std::vector<std::string> names, std::vector<int> indices);

// k-means, normalized cut and Ward's method on `set`, told the number of clusters.
std::vector<DemoJob> plain_jobs(const std::string& set, const std::string& truth, int clusters);

DemoStory tell_cac(uint64_t seed, const ImagePool& pool);
DemoStory tell_dcp(uint64_t seed);
DemoStory tell_icc(uint64_t seed);
DemoStory tell_exemplar(uint64_t seed, ImagePool& pool);
DemoStory tell_dlgmm(uint64_t seed);

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// Sets in which every sample has two independent factors, and contexts that lie between the values
// of one of them: the context must decide which factor the split follows. Made at run time from the
// data sets; any feature of whole images describes them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "milieu/feature/image.h"
#include "milieu/linalg/matrix.h"
#include "reproduce/reproduce.h"

namespace milieu::cli {

// The second factor; the first is the class (object or digit).
enum class SecondFactor { Blur, Rotation, Background, Slant, Color };

// The first: classes of Caltech, digits of MNIST, garments of Debian's dataset-fashion-mnist.
enum class FirstFactor { Object, Digit, Garment };

struct TwoFactorKind {
  const char* name;  // "object x blur"
  SecondFactor factor;
  FirstFactor first;
};
// Objects and digits; garments as well if `with_garments` and their files are there.
std::vector<TwoFactorKind> two_factor_kinds(bool with_garments);

// One set with its contexts, as images.
struct TwoFactorImages {
  std::string name;  // "object x blur, camera v cellphone"
  std::vector<Image> set;
  std::vector<int> truth[2];      // of the set: class, second factor
  std::vector<Image> between[2];  // contexts between the values of the first and second factor
  // Contexts that lie nowhere between: other classes, each value of the second factor as often.
  std::vector<std::vector<Image>> others;
};

// A PNG with some images of each of the four kinds, then of the two contexts in between.
std::string draw_two_factors(const TwoFactorImages& images);

// Where images come from, opened once. Throws MissingData.
class TwoFactorSource {
 public:
  explicit TwoFactorSource(const ReproduceRun& run);
  // Pair number `pair` of a kind (below num_pairs); other seeds draw other images.
  TwoFactorImages make(const TwoFactorKind& kind, int pair, uint64_t seed) const;
  int num_pairs(const TwoFactorKind& kind) const;

 private:
  struct Classes {
    std::vector<std::string> names;
    std::vector<std::vector<Matrix<float>>> ink;  // digits, side x side
    std::vector<std::vector<std::string>> paths;  // objects
  };

  const Classes& classes_of(const TwoFactorKind& kind) const;

  Classes objects_, digits_, garments_;
  std::vector<std::string> grounds_;  // textures behind digits
};

// One set with its contexts, as rows of a feature.
struct TwoFactorRows {
  std::string name;
  Matrix<float> set;
  std::vector<int> truth[2];
  Matrix<float> between[2];
  std::vector<Matrix<float>> others;
};
using DescribeImage = std::function<std::vector<float>(const Image&)>;
TwoFactorRows describe(const TwoFactorImages& images, const DescribeImage& feature,
                       int num_threads);

// What `--feature TEXT` computes for one image; keeps the feature open. Whole features only.
DescribeImage open_feature(const std::string& text, const ReproduceRun& run);
// 14 x 14 pixels of three colours, from 0 to 1.
std::vector<float> pixels_of(const Image& image);

// A way to split a set in two, seen against a context.
struct TwoFactorMethod {
  std::string name;
  bool sees_context = true;
  std::function<std::vector<int>(FloatView set, FloatView context, uint64_t seed)> labels;
};
// dcp with its default options and with --preset margin, k-means, spherical k-means, a Gaussian
// mixture on 10 principal components, normalized cut, contrastive PCA and k-means.
std::vector<TwoFactorMethod> two_factor_methods(const ReproduceRun& run);

// Directions in which the set varies more than `contrast` times the context, then k-means.
std::vector<int> split_by_contrast(FloatView set, FloatView context, double contrast, uint64_t seed,
                                   const ReproduceRun& run);

}  // namespace milieu::cli

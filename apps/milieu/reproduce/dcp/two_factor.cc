// SPDX-License-Identifier: Apache-2.0
#include "reproduce/dcp/two_factor.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/base/random.h"
#include "milieu/data/dataset.h"
#include "milieu/data/image_folder.h"
#include "milieu/feature/decode/decode.h"
#include "milieu/feature/feature_spec.h"
#include "reproduce/dcp/made_images.h"

namespace milieu::cli {

namespace {

constexpr int kObjectSide = 224, kDigitSide = 28, kDigitScale = 2;
// Images of one class: for the set, and held out for the contexts.
constexpr size_t kSetObjects = 40, kContextObjects = 20, kSetDigits = 100, kContextDigits = 50;
constexpr int kContextRepeats = 2;  // every held-out image is used this often
constexpr double kJitter = 0.1;     // of a factor whose values are 0 and 1
constexpr int kNumOthers = 4;
constexpr const char* kFashionFolder = "/usr/share/datasets/fashion-mnist/";  // of Debian's package

// A factor's value, not quite 0, 1/2 or 1.
double jittered(double value, Random& random) { return value + random.uniform(-kJitter, kJitter); }

// One class of images under a value of the second factor.
class Maker {
 public:
  Maker(SecondFactor factor, Image ground0, Image ground1)
      : factor_(factor), grounds_{std::move(ground0), std::move(ground1)} {}

  Image object(const Image& image, double value) const {
    const double v = std::clamp(value, 0.0, 1.0);
    // Blur: sigma grows by squares, so that the middle looks like the middle.
    return factor_ == SecondFactor::Blur ? blurred(image, 5 * v * v) : turned(image, 90 * value);
  }
  Image digit(FloatView ink, double value) const {
    Image image;
    if (factor_ == SecondFactor::Slant) {
      constexpr double kWhite[3] = {1, 1, 1};
      image = coloured(sheared(ink, 60 * (value - 0.5)), kWhite);
    } else if (factor_ == SecondFactor::Color) {
      const double v = std::clamp(value, 0.0, 1.0);
      const double rgb[3] = {1 - v, v, 0.2};
      image = coloured(ink, rgb);
    } else {
      image = inked(ink, blended(grounds_[0], grounds_[1], std::clamp(value, 0.0, 1.0)));
    }
    return resize(image, kDigitScale * kDigitSide, kDigitScale * kDigitSide);
  }

 private:
  SecondFactor factor_;
  Image grounds_[2];
};

// `count` numbers drawn from [0, size), the same for one seed and class.
std::vector<int64_t> draw(size_t size, size_t count, uint64_t seed, int which) {
  Random random = Random(seed).child(static_cast<uint64_t>(which) + 1);
  return random.sample_without_replacement(static_cast<int64_t>(size),
                                           static_cast<int64_t>(std::min(size, count)));
}

Matrix<float> half_way(FloatView a, FloatView b, double share) {
  Matrix<float> mixed(a.rows(), a.cols());
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t t = 0; t < a.cols(); ++t)
      mixed(i, t) = static_cast<float>((1 - share) * a(i, t) + share * b(i, t));
  return mixed;
}

Image mix(const Image& a, const Image& b, double share) { return blended(a, b, share); }
Matrix<float> mix(const Matrix<float>& a, const Matrix<float>& b, double share) {
  return half_way(a, b, share);
}
Image apply(const Maker& maker, const Image& sample, double value) {
  return maker.object(sample, value);
}
Image apply(const Maker& maker, const Matrix<float>& sample, double value) {
  return maker.digit(sample, value);
}

// Sample: Image or ink. classes[c]: the set's samples first, then those held out.
template <class Sample>
void fill(const Maker& maker, const std::vector<std::vector<Sample>>& classes, double set_share,
          Random random, TwoFactorImages& out) {
  size_t first_held_out[2];
  for (int c = 0; c < 2; ++c) {
    const auto n = static_cast<double>(classes[static_cast<size_t>(c)].size());
    first_held_out[c] = static_cast<size_t>(n * set_share);
    for (size_t i = 0; i < first_held_out[c]; ++i) {
      const int value = static_cast<int>(i % 2);
      out.set.push_back(apply(maker, classes[static_cast<size_t>(c)][i], jittered(value, random)));
      out.truth[0].push_back(c);
      out.truth[1].push_back(value);
    }
  }
  const auto held_out = [&](int c) -> const Sample& {
    const auto& all = classes[static_cast<size_t>(c)];
    const size_t first = first_held_out[c];
    return all[first +
               static_cast<size_t>(random.uniform_index(static_cast<int64_t>(all.size() - first)))];
  };
  const size_t count = kContextRepeats * (classes[0].size() - first_held_out[0]);
  for (size_t i = 0; i < count; ++i) {
    const Sample& a = held_out(0);
    const Sample& b = held_out(1);
    out.between[0].push_back(apply(maker, mix(a, b, jittered(0.5, random)),
                                   jittered(static_cast<double>(i % 2), random)));
    out.between[1].push_back(
        apply(maker, held_out(static_cast<int>(i % 2)), jittered(0.5, random)));
  }
  for (size_t c = 2; c < classes.size(); ++c) {
    out.others.emplace_back();
    for (size_t i = 0; i < count && i < classes[c].size(); ++i)
      out.others.back().push_back(
          apply(maker, classes[c][i], jittered(static_cast<double>(i % 2), random)));
  }
}

}  // namespace

std::vector<TwoFactorKind> two_factor_kinds(bool with_garments) {
  std::vector<TwoFactorKind> kinds = {
      {"object x blur", SecondFactor::Blur, FirstFactor::Object},
      {"object x rotation", SecondFactor::Rotation, FirstFactor::Object},
      {"digit x background", SecondFactor::Background, FirstFactor::Digit},
      {"digit x slant", SecondFactor::Slant, FirstFactor::Digit},
      {"digit x colour", SecondFactor::Color, FirstFactor::Digit},
  };
  if (with_garments && std::filesystem::exists(kFashionFolder))
    kinds.insert(kinds.end(),
                 {{"garment x background", SecondFactor::Background, FirstFactor::Garment},
                  {"garment x slant", SecondFactor::Slant, FirstFactor::Garment},
                  {"garment x colour", SecondFactor::Color, FirstFactor::Garment}});
  return kinds;
}

TwoFactorSource::TwoFactorSource(const ReproduceRun& run) {
  const ImageFolder folder = list_image_folder(run.data_file("caltech101"));
  objects_.names = folder.labels.names;
  objects_.paths.resize(objects_.names.size());
  for (size_t i = 0; i < folder.paths.size(); ++i)
    objects_.paths[static_cast<size_t>(folder.labels.indices[i])].push_back(folder.root + "/" +
                                                                            folder.paths[i]);
  const auto load_ink = [](const std::string& images, const std::string& labels, Classes& out) {
    LoadOptions options;
    options.labels_path = labels;
    const Dataset data = load_dataset(images, options);
    out.names = data.labels.names;
    out.ink.resize(out.names.size());
    for (int64_t i = 0; i < data.points.rows(); ++i) {
      Matrix<float> ink(kDigitSide, kDigitSide);
      std::copy_n(data.points.view().row(i), ink.size(), ink.data());
      out.ink[static_cast<size_t>(data.labels.indices[static_cast<size_t>(i)])].push_back(
          std::move(ink));
    }
  };
  load_ink(run.data_file("mnist/t10k-images-idx3-ubyte.gz"),
           run.data_file("mnist/t10k-labels-idx1-ubyte.gz"), digits_);
  const std::string fashion = kFashionFolder;
  if (std::filesystem::exists(fashion))
    load_ink(fashion + "t10k-images-idx3-ubyte.gz", fashion + "t10k-labels-idx1-ubyte.gz",
             garments_);
  const ImageFolder textures = list_image_folder(run.data_file("brodatz24"));
  for (const std::string& path : textures.paths) grounds_.push_back(textures.root + "/" + path);
}

const TwoFactorSource::Classes& TwoFactorSource::classes_of(const TwoFactorKind& kind) const {
  if (kind.first == FirstFactor::Object) return objects_;
  return kind.first == FirstFactor::Digit ? digits_ : garments_;
}

int TwoFactorSource::num_pairs(const TwoFactorKind& kind) const {
  return static_cast<int>(classes_of(kind).names.size() / 2);
}

TwoFactorImages TwoFactorSource::make(const TwoFactorKind& kind, int pair, uint64_t seed) const {
  const Classes& source = classes_of(kind);
  const bool is_object = kind.first == FirstFactor::Object;
  const auto num_classes = static_cast<int>(source.names.size());
  // Pairs are classes that follow each other in the alphabet; the others are those after them.
  std::vector<int> chosen;
  for (int i = 0; i < std::min(2 + kNumOthers, num_classes); ++i)
    chosen.push_back((2 * pair + i) % num_classes);
  TwoFactorImages out;
  out.name = fmt::format("{}, {} v {}", kind.name, source.names[static_cast<size_t>(chosen[0])],
                         source.names[static_cast<size_t>(chosen[1])]);
  Random random = Random(seed).child(static_cast<uint64_t>(1000 + pair));
  Image grounds[2];
  if (kind.factor == SecondFactor::Background)
    for (Image& ground : grounds)
      ground = square_of(load_image(grounds_[static_cast<size_t>(random.uniform_index(
                                        static_cast<int64_t>(grounds_.size())))],
                                    {}),
                         kDigitSide);
  const Maker maker(kind.factor, grounds[0], grounds[1]);
  const size_t in_set = is_object ? kSetObjects : kSetDigits;
  const size_t count = in_set + (is_object ? kContextObjects : kContextDigits);
  const double set_share = static_cast<double>(in_set) / static_cast<double>(count);
  if (is_object) {
    std::vector<std::vector<Image>> classes;
    for (const int c : chosen) {
      const auto& paths = source.paths[static_cast<size_t>(c)];
      classes.emplace_back();
      for (const int64_t i : draw(paths.size(), count, seed, c))
        classes.back().push_back(
            square_of(load_image(paths[static_cast<size_t>(i)], {}), kObjectSide));
    }
    fill(maker, classes, set_share, random, out);
  } else {
    std::vector<std::vector<Matrix<float>>> classes;
    for (const int c : chosen) {
      const auto& ink = source.ink[static_cast<size_t>(c)];
      classes.emplace_back();
      for (const int64_t i : draw(ink.size(), count, seed, c))
        classes.back().push_back(ink[static_cast<size_t>(i)]);
    }
    fill(maker, classes, set_share, random, out);
  }
  return out;
}

TwoFactorRows describe(const TwoFactorImages& images, const DescribeImage& feature,
                       int num_threads) {
  const auto rows_of = [&](const std::vector<Image>& all) {
    if (all.empty()) return Matrix<float>();
    const std::vector<float> first = feature(all[0]);
    Matrix<float> rows(static_cast<int64_t>(all.size()), static_cast<int64_t>(first.size()));
    parallel_for(rows.rows(), 1, num_threads, [&](const Block& block) {
      for (int64_t i = block.begin; i < block.end; ++i)
        std::ranges::copy(feature(all[static_cast<size_t>(i)]), rows.row(i));
    });
    return rows;
  };
  TwoFactorRows out;
  out.name = images.name;
  out.set = rows_of(images.set);
  for (int f = 0; f < 2; ++f) {
    out.truth[f] = images.truth[f];
    out.between[f] = rows_of(images.between[f]);
  }
  for (const std::vector<Image>& other : images.others) out.others.push_back(rows_of(other));
  return out;
}

DescribeImage open_feature(const std::string& text, const ReproduceRun& run) {
  const auto spec = std::make_shared<FeatureSpec>(parse_feature(text));
  require(!spec->is_local(), [&] {
    return fmt::format("{} is a local feature: take one with one vector per image", text);
  });
  spec->feature->prepare();
  spec->feature->open(run.monitor());
  return [spec](const Image& image) { return spec->feature->whole({image, "made"}); };
}

std::vector<float> pixels_of(const Image& image) {
  constexpr int kSide = 14;
  const Image small = resize(image, kSide, kSide);
  std::vector<float> values;
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x)
      for (int c = 0; c < 3; ++c) values.push_back(static_cast<float>(small.pixel(x, y)[c]) / 255);
  return values;
}

}  // namespace milieu::cli

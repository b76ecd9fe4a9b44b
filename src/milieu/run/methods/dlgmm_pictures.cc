// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/methods/dlgmm_pictures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "milieu/feature/decode/decode.h"
#include "milieu/render/color.h"
#include "milieu/render/png.h"

namespace milieu {

namespace {

constexpr int kTile = 24;        // pixels of a patch in a mosaic
constexpr int kLeastSide = 4;    // pixels of an image that a tile shows
constexpr int kTilesAcross = 4;  // patches of one word: 4 x 2
constexpr int kTilesDown = 2;
constexpr int kWordsAcross = 8;
constexpr int kGap = 6;
constexpr int kThumb = 96;
constexpr int kThumbsAcross = 10;
constexpr int kMapsAcross = 4;
constexpr int kMaxClusters = 40;

RasterImage white_sheet(int width, int height) {
  RasterImage sheet(std::max(width, 1), std::max(height, 1), 3);
  std::ranges::fill(sheet.pixels, uint8_t{255});
  return sheet;
}

void paste(const Image& image, int x0, int y0, RasterImage& sheet) {
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      std::copy_n(image.pixel(x, y), 3, sheet.at(x0 + x, y0 + y));
}

Image crop(const Image& image, int x0, int y0, int side) {
  Image part = make_image(side, side);
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x)
      std::copy_n(image.pixel(std::clamp(x0 + x, 0, image.width - 1),
                              std::clamp(y0 + y, 0, image.height - 1)),
                  3, part.pixel(x, y));
  return part;
}

// The image within kThumb x kThumb, its shape kept.
Image thumbnail(const Image& image) {
  const double scale =
      static_cast<double>(kThumb) / static_cast<double>(std::max(image.width, image.height));
  return resize(image, std::max(1, static_cast<int>(std::lround(image.width * scale))),
                std::max(1, static_cast<int>(std::lround(image.height * scale))));
}

Image load(const PatchImages& images, int64_t d) {
  DecodeOptions decode;
  decode.max_side = images.max_side;  // positions of patches are those in images of this size
  return load_image(images.root + "/" + images.names[d], decode);
}

// Angles between descriptors whose principal components are given. By their distance the patches
// nearest to a word would be flat ones: words are means, and means of descriptors are short.
class Angles {
 public:
  explicit Angles(const Matrix<float>& projection) {
    if (projection.empty()) return;
    origin_.assign(projection.rows() - 1, 0.0);
    for (int64_t r = 0; r < projection.cols(); ++r) {
      const double mean = projection(0, r);
      square_ += mean * mean;
      for (size_t k = 0; k < origin_.size(); ++k)
        origin_[k] += mean * static_cast<double>(projection(static_cast<int64_t>(k) + 1, r));
    }
  }

  // 1 - cosine.
  template <class X, class Y>
  double between(const X* x, const Y* y, int64_t size) const {
    return 1 - dot(x, y, size) / std::sqrt(std::max(1e-12, dot(x, x, size) * dot(y, y, size)));
  }

 private:
  template <class X, class Y>
  double dot(const X* x, const Y* y, int64_t size) const {
    double sum = square_;
    for (int64_t r = 0; r < size; ++r) {
      const auto a = static_cast<double>(x[r]), b = static_cast<double>(y[r]);
      sum += a * b;
      if (!origin_.empty()) sum += origin_[r] * (a + b);
    }
    return sum;
  }

  std::vector<double> origin_;  // the mean descriptor on the components
  double square_ = 0;           // its squared norm
};

struct NearPatch {
  double distance;
  int64_t patch, image;
};

// For each word the patches of that word nearest to it by their angle, among patches spread over
// all images.
std::vector<std::vector<NearPatch>> nearest_patches(const PatchImages& images,
                                                    const DlgmmModel& model,
                                                    const std::vector<int>& words) {
  constexpr int64_t kEnough = 400000;
  constexpr size_t kKept = kTilesAcross * kTilesDown;
  const Angles angles(images.projection);
  std::vector<std::vector<NearPatch>> near(model.num_words());
  const int64_t step = std::max<int64_t>(1, images.patches.rows() / kEnough);
  int64_t d = 0;
  for (int64_t i = 0; i < images.patches.rows(); i += step) {
    while (images.offsets[d + 1] <= i) ++d;
    const double distance =
        angles.between(images.patches.view().row(i), model.words.row(words[i]), model.words.cols());
    std::vector<NearPatch>& list = near[words[i]];
    if (list.size() == kKept && list.back().distance <= distance) continue;
    // Neighbouring patches of one image look alike: one of each image is enough.
    const auto same = std::ranges::find(list, d, &NearPatch::image);
    if (same != list.end() && same->distance <= distance) continue;
    if (same != list.end()) list.erase(same);
    const auto place = std::ranges::upper_bound(list, distance, {}, &NearPatch::distance);
    list.insert(place, {distance, i, d});
    if (list.size() > kKept) list.pop_back();
  }
  return near;
}

std::vector<int> words_by_weight(const std::vector<int>& words, int64_t num_words) {
  std::vector<int64_t> weight(num_words, 0);
  for (const int word : words) ++weight[word];
  std::vector<int> order(num_words);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) { return weight[a] > weight[b]; });
  return order;
}

RasterImage draw_words(const PatchImages& images, const DlgmmModel& model,
                       const std::vector<int>& words) {
  const auto near = nearest_patches(images, model, words);
  const std::vector<int> order = words_by_weight(words, model.num_words());
  constexpr int kWide = kTilesAcross * kTile + kGap;
  constexpr int kHigh = kTilesDown * kTile + kGap;
  const int lines = (static_cast<int>(order.size()) + kWordsAcross - 1) / kWordsAcross;
  RasterImage sheet = white_sheet(kWordsAcross * kWide - kGap, lines * kHigh - kGap);
  struct Place {
    int64_t patch;
    int x, y;
  };
  std::map<int64_t, std::vector<Place>> by_image;  // each image is decoded once
  for (size_t k = 0; k < order.size(); ++k)
    for (size_t t = 0; t < near[order[k]].size(); ++t) {
      const NearPatch& patch = near[order[k]][t];
      by_image[patch.image].push_back(
          {patch.patch,
           static_cast<int>(k % kWordsAcross) * kWide + static_cast<int>(t % kTilesAcross) * kTile,
           static_cast<int>(k / kWordsAcross) * kHigh +
               static_cast<int>(t / kTilesAcross) * kTile});
    }
  for (const auto& [d, places] : by_image) {
    const Image image = load(images, d);
    for (const Place& place : places) {
      const float* frame = images.positions.view().row(place.patch);
      const int side = std::max(kLeastSide, static_cast<int>(frame[2]));
      const Image patch = crop(image, static_cast<int>(frame[0]) - side / 2,
                               static_cast<int>(frame[1]) - side / 2, side);
      paste(resize(patch, kTile, kTile), place.x, place.y, sheet);
    }
  }
  return sheet;
}

// Images of each cluster, the surest first.
std::vector<std::vector<int64_t>> surest_images(const DlgmmResult& result) {
  std::vector<std::vector<int64_t>> clusters(
      std::min<size_t>(kMaxClusters, result.model.weights.size()));
  for (size_t d = 0; d < result.labels.size(); ++d)
    if (result.labels[d] >= 0 && static_cast<size_t>(result.labels[d]) < clusters.size())
      clusters[result.labels[d]].push_back(static_cast<int64_t>(d));
  for (size_t j = 0; j < clusters.size(); ++j)
    std::ranges::stable_sort(clusters[j], [&](int64_t a, int64_t b) {
      return result.prediction.probabilities(a, static_cast<int64_t>(j)) >
             result.prediction.probabilities(b, static_cast<int64_t>(j));
    });
  return clusters;
}

RasterImage draw_clusters(const PatchImages& images,
                          const std::vector<std::vector<int64_t>>& clusters) {
  RasterImage sheet = white_sheet(kThumbsAcross * (kThumb + kGap),
                                  static_cast<int>(clusters.size()) * (kThumb + kGap));
  for (size_t j = 0; j < clusters.size(); ++j)
    for (size_t t = 0; t < clusters[j].size() && t < kThumbsAcross; ++t)
      paste(thumbnail(load(images, clusters[j][t])), static_cast<int>(t) * (kThumb + kGap),
            static_cast<int>(j) * (kThumb + kGap), sheet);
  return sheet;
}

// The words of an image on its grid, in colours, as large as its thumbnail.
Image draw_map(const PatchImages& images, int64_t d, const std::vector<int>& words, int width,
               int height) {
  Image map = make_image(width, height);
  const int rows = images.grid(d, 0), cols = images.grid(d, 1);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int64_t cell = int64_t{y * rows / height} * cols + x * cols / width;
      const int word = words[images.offsets[d] + cell];
      const Color color = cluster_color(word % kNumClusterColors);
      // Words beyond the palette share its colours, darker.
      const int shade = 1 + word / kNumClusterColors % 3;
      uint8_t* pixel = map.pixel(x, y);
      pixel[0] = static_cast<uint8_t>(color.r / shade);
      pixel[1] = static_cast<uint8_t>(color.g / shade);
      pixel[2] = static_cast<uint8_t>(color.b / shade);
    }
  return map;
}

// The surest image of each cluster.
std::vector<int64_t> first_images(const std::vector<std::vector<int64_t>>& clusters) {
  std::vector<int64_t> shown;
  for (const auto& cluster : clusters)
    if (!cluster.empty()) shown.push_back(cluster.front());
  return shown;
}

RasterImage draw_maps(const PatchImages& images, const std::vector<int64_t>& shown,
                      const std::vector<int>& words) {
  const int lines = (static_cast<int>(shown.size()) + kMapsAcross - 1) / kMapsAcross;
  constexpr int kWide = 2 * kThumb + 3 * kGap;
  RasterImage sheet = white_sheet(kMapsAcross * kWide, lines * (kThumb + kGap));
  for (size_t k = 0; k < shown.size(); ++k) {
    const Image small = thumbnail(load(images, shown[k]));
    const int x = static_cast<int>(k % kMapsAcross) * kWide;
    const int y = static_cast<int>(k / kMapsAcross) * (kThumb + kGap);
    paste(small, x, y, sheet);
    paste(draw_map(images, shown[k], words, small.width, small.height), x + kThumb + kGap, y,
          sheet);
  }
  return sheet;
}

}  // namespace

std::vector<ResultFile> draw_dlgmm(const PatchImages& images, const DlgmmResult& result,
                                   int num_threads) {
  if (images.root.empty() || images.positions.rows() == 0) return {};
  const std::vector<int> words =
      word_map(result.model, images.view(), result.prediction.alpha, num_threads);
  const std::vector<std::vector<int64_t>> clusters = surest_images(result);
  std::vector<ResultFile> files;
  files.push_back({"words.png", encode_png(draw_words(images, result.model, words))});
  files.push_back({"clusters.png", encode_png(draw_clusters(images, clusters))});
  if (images.grid.rows() > 0)
    files.push_back(
        {"word_maps.png", encode_png(draw_maps(images, first_images(clusters), words))});
  return files;
}

std::vector<int64_t> drawn_word_maps(const PatchImages& images) {
  std::vector<int64_t> shown;
  for (int64_t d = 0; d < images.num_images() && shown.size() < kMaxClusters; ++d)
    if (images.offsets[d + 1] > images.offsets[d]) shown.push_back(d);
  return shown;
}

std::string draw_word_maps(const PatchImages& images, const std::vector<int>& words) {
  return encode_png(draw_maps(images, drawn_word_maps(images), words));
}

}  // namespace milieu

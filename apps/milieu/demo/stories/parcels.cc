// SPDX-License-Identifier: Apache-2.0
#include "demo/stories/parcels.h"

#include <algorithm>
#include <cmath>

namespace milieu::cli {

namespace {

constexpr double kStep = 2.6;  // standard deviations from one article to the next
constexpr Measured kCenter = {0.43, 0.57};
constexpr Measured kSpread = {0.05, 0.052};  // standard deviation of an article
constexpr float kInk = 0.1F;                 // darker pixels are the background

// A disc, a square or a diamond of this size and brightness.
std::vector<float> draw_shape(const Measured& target, int side, Random random) {
  const double area = std::clamp(target[0], 0.03, 0.95) * side * side;
  const int kind = static_cast<int>(random.uniform_index(3));
  std::vector<float> pixels(static_cast<size_t>(side) * side);
  std::vector<std::pair<double, size_t>> order;  // the pixels from the middle outwards
  for (int i = 0; i < side * side; ++i) {
    const double x = std::abs(i % side + 0.5 - side / 2.0),
                 y = std::abs(i / side + 0.5 - side / 2.0);
    const double radius = kind == 0 ? std::sqrt(x * x + y * y) : kind == 1 ? std::max(x, y) : x + y;
    order.emplace_back(radius, static_cast<size_t>(i));
  }
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size() && static_cast<double>(i) < area; ++i)
    pixels[order[i].second] = static_cast<float>(std::clamp(target[1], 0.15, 1.0));
  return pixels;
}

// The row of `known` nearest to the target that is not taken yet.
size_t find_nearest(const std::vector<Measured>& known, const std::vector<bool>& is_taken,
                    const Measured& target) {
  size_t nearest = 0;
  double least = -1;
  for (size_t g = 0; g < known.size(); ++g) {
    const double x = (known[g][0] - target[0]) / kSpread[0];
    const double y = (known[g][1] - target[1]) / kSpread[1];
    if (is_taken[g] || (least >= 0 && x * x + y * y >= least)) continue;
    least = x * x + y * y;
    nearest = g;
  }
  return nearest;
}

}  // namespace

Parcels draw_parcels(Random random) {
  std::vector<int> shops;
  for (int p = 0; p < kParcels; ++p) shops.push_back(p % 2);
  random.shuffle(std::span(shops));
  Parcels drawn;
  for (int i = 0; i < kPieces; ++i) {
    const int shop = shops[static_cast<size_t>(i / kInParcel)];
    const auto size = static_cast<int>(random.uniform_index(kLevels));
    const int half = static_cast<int>(random.uniform_index(kLevels / 2));
    const int brightness = 2 * half + (size + shop) % 2;  // the squares of one colour
    drawn.parcel.push_back(i / kInParcel);
    drawn.shop.push_back(shop);
    drawn.article.push_back(size * kLevels + brightness);
    Measured target{};
    const std::array<int, 2> level = {size, brightness};
    for (size_t t = 0; t < 2; ++t)
      target[t] =
          kCenter[t] + kSpread[t] * (kStep * (level[t] - (kLevels - 1) / 2.0) + random.normal());
    drawn.target.push_back(target);
  }
  return drawn;
}

Matrix<float> choose_images(const Parcels& drawn, const ImagePool& pool, Random random) {
  Matrix<float> images(kPieces, pool.side() * pool.side());
  std::vector<Measured> known;
  for (int64_t g = 0; pool.has_garments() && g < pool.size(); ++g)
    known.push_back(measure(pool.image(g)));
  std::vector<bool> is_taken(known.size());
  for (int64_t i = 0; i < kPieces; ++i) {
    const Measured& target = drawn.target[static_cast<size_t>(i)];
    if (known.empty()) {
      const auto shape = draw_shape(target, pool.side(), random.child(static_cast<uint64_t>(i)));
      std::copy(shape.begin(), shape.end(), images.row(i));
      continue;
    }
    const size_t nearest = find_nearest(known, is_taken, target);
    is_taken[nearest] = true;
    const auto image = pool.image(static_cast<int64_t>(nearest));
    std::copy(image.begin(), image.end(), images.row(i));
  }
  return images;
}

Measured measure(std::span<const float> pixels) {
  double count = 0, sum = 0;
  for (const float pixel : pixels)
    if (pixel > kInk) {
      ++count;
      sum += pixel;
    }
  return {count / static_cast<double>(pixels.size()), count > 0 ? sum / count : 0};
}

}  // namespace milieu::cli

// SPDX-License-Identifier: Apache-2.0
// Parcels from two shops: which pieces are in them, and their images.
#pragma once

#include <array>
#include <vector>

#include "demo/stories/stories.h"

namespace milieu::cli {

inline constexpr int kParcels = 150, kInParcel = 6, kPieces = kParcels * kInParcel;
inline constexpr int kLevels = 4;  // of the size and of the brightness: 16 articles, 8 of each shop
inline constexpr int kArticles = kLevels * kLevels;

using Measured = std::array<double, 2>;  // share of the image that a piece covers, brightness there

struct Parcels {
  std::vector<int> parcel, shop, article;  // of every piece
  std::vector<Measured> target;            // what it should measure
};

Parcels draw_parcels(Random random);

// The garments nearest to what they should measure, each taken once; without garments, drawn
// shapes.
Matrix<float> choose_images(const Parcels& drawn, const ImagePool& pool, Random random);

Measured measure(std::span<const float> pixels);

}  // namespace milieu::cli

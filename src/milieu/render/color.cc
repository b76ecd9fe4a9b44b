// SPDX-License-Identifier: Apache-2.0
// The palette was chosen greedily among sRGB colours of moderate chroma (OKLCH chroma 0.05 to
// 0.165) whose contrast is at least 1.9 against both page backgrounds (white and #16181d): from
// four colours picked by hand, the next one is always the colour farthest from those already taken,
// where the distance of two colours is the least of their OKLab distances as seen with normal
// vision and with simulated protanopia, deuteranopia and tritanopia (Machado, Oliveira and
// Fernandes 2009). The first colours are therefore the most distinct ones: any prefix is a good
// palette.
#include "milieu/render/color.h"

#include <fmt/format.h>

#include <array>

namespace milieu {
namespace {

constexpr std::array<uint32_t, kNumClusterColors> kPalette = {
    0x3071b5, 0xda942c, 0x0fa196, 0x9c4b5f, 0xa87fe9, 0xd25d3e, 0x17d6a4, 0xbab4f8,
    0xdcbc28, 0x6e5d0a, 0x89a9c1, 0x56588a, 0x6d8a64, 0x85698d, 0xb8a276, 0xe26a94,
    0xbc72c2, 0x89cc72, 0x1f6741, 0x67abe5, 0x956dd4, 0xc68206, 0x4e56b9, 0x9f4fa7,
    0xceb3d0, 0x849d5b, 0x94771a, 0xb13b2d, 0xfda19b, 0xd292f8, 0x429082, 0xf47eb1};
constexpr uint32_t kNoCluster = 0x8c8c8c;

constexpr Color from_rgb(uint32_t rgb) {
  return {static_cast<uint8_t>(rgb >> 16), static_cast<uint8_t>(rgb >> 8 & 255),
          static_cast<uint8_t>(rgb & 255)};
}

}  // namespace

Color cluster_color(int cluster) {
  return from_rgb(cluster < 0 ? kNoCluster : kPalette[cluster % kNumClusterColors]);
}

bool has_square_marker(int cluster) { return cluster >= 0 && cluster / kNumClusterColors % 2 == 1; }

std::string to_hex(Color color) {
  return fmt::format("#{:02x}{:02x}{:02x}", color.r, color.g, color.b);
}

}  // namespace milieu

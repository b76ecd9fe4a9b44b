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
    0x3071b5, 0xda942c, 0x0fa196, 0x8f3f54, 0xbab4f8, 0x533890, 0xcb5738, 0xa87fe9,
    0x1ecdaa, 0x8f6870, 0x65470f, 0x285d80, 0x87a8cd, 0xeeaf6e, 0xe86c68, 0x7982b7,
    0x871653, 0x695f0e, 0x706791, 0xc5a57e, 0xab4d4a, 0xb098fa, 0x2b4872, 0xbc8726,
    0x6546ab, 0xd6afd2, 0x34b4a9, 0x508601, 0x956dd4, 0xca6980, 0x8b9258, 0x3b8e96};
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

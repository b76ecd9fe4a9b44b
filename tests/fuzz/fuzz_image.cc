// SPDX-License-Identifier: Apache-2.0
#include "fuzz_target.h"
#include "milieu/feature/decode/decode.h"

namespace milieu {
namespace {

constexpr int64_t kMostPixels = 4096;

const RegisterFuzzTarget kRegistered("image", [](std::span<const std::byte> input) {
  const std::span bytes(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  const Image image = decode_image(bytes, "fuzz.png", kMostPixels);
  const int64_t pixels = int64_t{image.width} * image.height;
  check_promise(pixels >= 1 && pixels <= kMostPixels, "size");
  check_promise(static_cast<int64_t>(image.rgb.size()) == 3 * pixels, "bytes");
  for (int64_t i = 0; image.is_gray && i < pixels; ++i)
    check_promise(
        image.rgb[3 * i] == image.rgb[3 * i + 1] && image.rgb[3 * i] == image.rgb[3 * i + 2],
        "grey");
});

}  // namespace
}  // namespace milieu

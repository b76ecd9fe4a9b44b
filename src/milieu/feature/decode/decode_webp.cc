// SPDX-License-Identifier: Apache-2.0
// WebP through libwebp.
#include <webp/decode.h>

#include <cstring>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/feature/decode/decode_internal.h"

namespace milieu::internal {
namespace {

// The payload of the chunk `name` in the RIFF file; empty where there is none.
Bytes find_chunk(Bytes file, const char* name) {
  size_t at = 12;
  while (at + 8 <= file.size()) {
    const size_t size = file[at + 4] | size_t{file[at + 5]} << 8 | size_t{file[at + 6]} << 16 |
                        size_t{file[at + 7]} << 24;
    if (size > file.size() - at - 8) return {};
    if (std::memcmp(file.data() + at, name, 4) == 0) return file.subspan(at + 8, size);
    at += 8 + size + size % 2;
  }
  return {};
}

}  // namespace

StoredImage decode_webp(const DecodeJob& job) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(job.file.data(), job.file.size(), &features) != VP8_STATUS_OK)
    throw DataError("is a damaged or truncated WebP: its header cannot be read");
  check_size(features.width, features.height, job);
  if (features.has_animation)
    throw DataError("is an animated WebP, must be a still image: save one of its frames");
  std::vector<uint8_t> rgba(size_t{4} * features.width * features.height);
  if (WebPDecodeRGBAInto(job.file.data(), job.file.size(), rgba.data(), rgba.size(),
                         4 * features.width) == nullptr)
    throw DataError("is a damaged or truncated WebP");
  StoredImage out;
  out.image = on_white(rgba.data(), features.width, features.height, false);
  out.orientation = exif_orientation(find_chunk(job.file, "EXIF"));
  return out;
}

}  // namespace milieu::internal

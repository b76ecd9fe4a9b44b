// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "milieu/base/error.h"

namespace milieu {
namespace {

// zlib counts in 32 bits; longer input and output go through in pieces.
constexpr size_t kMaxPiece = std::numeric_limits<uInt>::max() / 2;
constexpr int kGzipWindow = 15 + 16;  // largest window, gzip framing only

}  // namespace

struct GzipReader::State {
  z_stream stream = {};
  std::span<const std::byte> rest;  // not yet given to zlib
  bool is_done = false;
};

bool looks_like_gzip(std::span<const std::byte> file) {
  return file.size() >= 2 && file[0] == std::byte{0x1f} && file[1] == std::byte{0x8b};
}

GzipReader::GzipReader(std::span<const std::byte> compressed, std::string source)
    : state_(std::make_unique<State>()), source_(std::move(source)) {
  state_->rest = compressed;
  if (inflateInit2(&state_->stream, kGzipWindow) != Z_OK) throw std::bad_alloc();
}

GzipReader::~GzipReader() { inflateEnd(&state_->stream); }

size_t GzipReader::read(std::span<std::byte> out) {
  z_stream& stream = state_->stream;
  size_t filled = 0;
  while (filled < out.size() && !state_->is_done) {
    if (stream.avail_in == 0 && !state_->rest.empty()) {
      const size_t piece = std::min(kMaxPiece, state_->rest.size());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(state_->rest.data()));
      stream.avail_in = static_cast<uInt>(piece);
      state_->rest = state_->rest.subspan(piece);
    }
    const size_t room = std::min(kMaxPiece, out.size() - filled);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    filled += room - stream.avail_out;
    if (status == Z_STREAM_END) {
      state_->is_done = stream.avail_in == 0 && state_->rest.empty();
      if (!state_->is_done) inflateReset(&stream);
    } else if (status == Z_BUF_ERROR) {
      throw DataError(fmt::format("{} is truncated: its gzip data ends too early", source_));
    } else if (status != Z_OK) {
      throw DataError(fmt::format("{} is damaged: {}", source_,
                                  stream.msg != nullptr ? stream.msg : "not gzip data"));
    }
  }
  return filled;
}

}  // namespace milieu

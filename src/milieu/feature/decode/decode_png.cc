// SPDX-License-Identifier: Apache-2.0
// PNG through libpng. Chunks that unpack to more than a few megabytes (texts, profiles) are refused
// by libpng's own limit.
#include <png.h>

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/feature/decode/decode_internal.h"

namespace milieu::internal {
namespace {

constexpr png_alloc_size_t kMostChunkBytes = 8 << 20;

struct Reader {
  Bytes rest;
  bool is_truncated = false;
  char message[256] = {};
  png_structp png = nullptr;
  png_infop info = nullptr;

  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto* reader = static_cast<Reader*>(png_get_error_ptr(png));
  std::strncpy(reader->message, message, sizeof reader->message - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep data, size_t size) {
  auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
  if (size > reader->rest.size()) {
    reader->is_truncated = true;
    png_error(png, "the file ends too early");
  }
  std::memcpy(data, reader->rest.data(), size);
  reader->rest = reader->rest.subspan(size);
}

// The functions that may longjmp have no objects with destructors.
bool read_header(Reader& reader) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_set_chunk_malloc_max(reader.png, kMostChunkBytes);
  png_set_user_limits(reader.png, 0x7fffffff, 0x7fffffff);  // check_size has the better words
  png_set_read_fn(reader.png, &reader, on_read);
  png_read_info(reader.png, reader.info);
  return true;
}

// Everything becomes RGBA, 8 bits.
bool read_pixels(Reader& reader, png_bytepp rows) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_set_expand(reader.png);  // palettes, few bits, transparency chunks
  png_set_scale_16(reader.png);
  png_set_gray_to_rgb(reader.png);
  png_set_add_alpha(reader.png, 0xff, PNG_FILLER_AFTER);
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  png_read_image(reader.png, rows);
  png_read_end(reader.png, nullptr);
  return true;
}

[[noreturn]] void fail(const Reader& reader) {
  if (reader.is_truncated) throw DataError("ends before its image is complete (a truncated PNG)");
  throw DataError(fmt::format("is a damaged PNG: {}", reader.message));
}

int orientation_of(Reader& reader) {
  png_bytep data = nullptr;
  png_uint_32 size = 0;
  if (png_get_eXIf_1(reader.png, reader.info, &size, &data) == 0 || data == nullptr) return 1;
  return exif_orientation({data, size});
}

}  // namespace

StoredImage decode_png(const DecodeJob& job) {
  Reader reader;
  reader.rest = job.file;
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, on_error, on_warning);
  if (reader.png == nullptr) throw std::bad_alloc();
  reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) throw std::bad_alloc();
  if (!read_header(reader)) fail(reader);
  const png_uint_32 width = png_get_image_width(reader.png, reader.info);
  const png_uint_32 height = png_get_image_height(reader.png, reader.info);
  check_size(width, height, job);

  std::vector<uint8_t> rgba(size_t{4} * width * height);
  std::vector<png_bytep> rows(height);
  for (png_uint_32 y = 0; y < height; ++y) rows[y] = rgba.data() + size_t{4} * width * y;
  if (!read_pixels(reader, rows.data())) fail(reader);
  StoredImage out;
  out.image = on_white(rgba.data(), static_cast<int>(width), static_cast<int>(height), false);
  out.orientation = orientation_of(reader);
  return out;
}

}  // namespace milieu::internal

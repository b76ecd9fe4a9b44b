// SPDX-License-Identifier: Apache-2.0
// TIFF through libtiff, first page. Handlers and the memory limit belong to the handle: no state of
// the process is touched.
#include <tiffio.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/feature/decode/decode_internal.h"

namespace milieu::internal {
namespace {

struct Source {
  Bytes file;
  size_t at = 0;
  char message[512] = {};
};

Source& source_of(thandle_t handle) { return *static_cast<Source*>(handle); }

tmsize_t on_read(thandle_t handle, void* data, tmsize_t size) {
  Source& source = source_of(handle);
  const size_t left = source.at < source.file.size() ? source.file.size() - source.at : 0;
  const size_t count = std::min(left, static_cast<size_t>(std::max<tmsize_t>(size, 0)));
  if (count > 0) std::memcpy(data, source.file.data() + source.at, count);
  source.at += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t on_write(thandle_t, void*, tmsize_t) { return 0; }

toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
  Source& source = source_of(handle);
  const toff_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? source.at : source.file.size();
  source.at = base + offset;
  return source.at;
}

int on_close(thandle_t) { return 0; }
toff_t on_size(thandle_t handle) { return source_of(handle).file.size(); }
int on_map(thandle_t, void**, toff_t*) { return 0; }
void on_unmap(thandle_t, void*, toff_t) {}

// Keeps the first message: the later ones follow from it.
int on_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  auto& source = *static_cast<Source*>(user);
  if (source.message[0] == '\0')
    std::vsnprintf(source.message, sizeof source.message, format, arguments);
  return 1;
}

int on_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct Closer {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using Handle = std::unique_ptr<TIFF, Closer>;

Handle open_tiff(Source& source, const DecodeJob& job) {
  const std::unique_ptr<TIFFOpenOptions, void (*)(TIFFOpenOptions*)> options(TIFFOpenOptionsAlloc(),
                                                                             TIFFOpenOptionsFree);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(),
                                      std::max<tmsize_t>(tmsize_t{1} << 20, 16 * job.max_pixels));
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, nullptr);
  return Handle(TIFFClientOpenExt("image", "rm", &source, on_read, on_write, on_seek, on_close,
                                  on_size, on_map, on_unmap, options.get()));
}

[[noreturn]] void fail(const char* message) {
  throw DataError(fmt::format("is a damaged, truncated or unusual TIFF: {}", message));
}

// RGBA in the order of the file: upright() does the turning.
bool read_rgba(TIFF* tiff, std::vector<uint32_t>& raster, int width, int height, Source& source) {
  TIFFRGBAImage image;
  char message[1024] = {};
  if (!TIFFRGBAImageBegin(&image, tiff, 1, message)) {
    std::snprintf(source.message, sizeof source.message, "%.*s",
                  static_cast<int>(sizeof source.message) - 1, message);
    return false;
  }
  image.req_orientation = image.orientation;
  const bool is_whole = TIFFRGBAImageGet(&image, raster.data(), width, height) != 0;
  TIFFRGBAImageEnd(&image);
  return is_whole && source.message[0] == '\0';
}

}  // namespace

StoredImage decode_tiff(const DecodeJob& job) {
  Source source;
  source.file = job.file;
  const Handle tiff = open_tiff(source, job);
  if (!tiff) fail(source.message);
  uint32_t width = 0, height = 0;
  uint16_t orientation = 1;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_ORIENTATION, &orientation);
  check_size(width, height, job);
  std::vector<uint32_t> raster(static_cast<size_t>(width) * height);
  if (!read_rgba(tiff.get(), raster, static_cast<int>(width), static_cast<int>(height), source))
    fail(source.message);
  std::vector<uint8_t> rgba(4 * raster.size());
  for (size_t i = 0; i < raster.size(); ++i) {
    rgba[4 * i] = static_cast<uint8_t>(TIFFGetR(raster[i]));
    rgba[4 * i + 1] = static_cast<uint8_t>(TIFFGetG(raster[i]));
    rgba[4 * i + 2] = static_cast<uint8_t>(TIFFGetB(raster[i]));
    rgba[4 * i + 3] = static_cast<uint8_t>(TIFFGetA(raster[i]));
  }
  StoredImage out;
  out.image = on_white(rgba.data(), static_cast<int>(width), static_cast<int>(height), true);
  out.orientation = orientation;
  return out;
}

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// JPEG through libjpeg-turbo. Its warnings are the only sign of a truncated file: the decoder fills
// the rest with grey and calls it an image, so those that mean missing or broken data are errors.
#include <algorithm>
#include <csetjmp>
#include <cstdio>

#include <jerror.h>
#include <jpeglib.h>

#include <fmt/format.h>

#include "milieu/base/error.h"
#include "milieu/feature/decode/decode_internal.h"

namespace milieu::internal {
namespace {

constexpr int kMostScans = 500;  // a progressive file may ask for endless passes over the image

struct ErrorState {
  jpeg_error_mgr manager;  // first: libjpeg hands back a pointer to it
  jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
  bool is_truncated;
};

ErrorState* state_of(j_common_ptr info) { return reinterpret_cast<ErrorState*>(info->err); }

[[noreturn]] void on_error(j_common_ptr info) {
  info->err->format_message(info, state_of(info)->message);
  std::longjmp(state_of(info)->escape, 1);
}

void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;  // a trace
  switch (info->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
      state_of(info)->is_truncated = true;
      on_error(info);
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC:
      on_error(info);
    default:
      break;  // odd, but every pixel is there
  }
}

void on_progress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans) return;
  std::snprintf(state_of(info)->message, JMSG_LENGTH_MAX, "more than %d scans", kMostScans);
  std::longjmp(state_of(info)->escape, 1);
}

// One row of the decoder's colours as RGB.
void to_rgb(const uint8_t* row, const jpeg_decompress_struct& info, uint8_t* out) {
  for (JDIMENSION x = 0; x < info.output_width; ++x, out += 3) {
    if (info.output_components == 1) {
      out[0] = out[1] = out[2] = row[x];
    } else if (info.output_components == 3) {
      for (int c = 0; c < 3; ++c) out[c] = row[3 * x + c];
    } else {  // CMYK; Adobe's programs store it inverted
      const uint8_t* p = row + 4 * x;
      const int black = info.saw_Adobe_marker ? p[3] : 255 - p[3];
      for (int c = 0; c < 3; ++c)
        out[c] = static_cast<uint8_t>((info.saw_Adobe_marker ? p[c] : 255 - p[c]) * black / 255);
    }
  }
}

// Everything that libjpeg calls; leaves by longjmp on an error, so nothing here has a destructor.
// The image and the row live with the caller.
void decode_pixels(jpeg_decompress_struct& info, StoredImage& out, std::vector<uint8_t>& row) {
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    const JDIMENSION y = info.output_scanline;
    JSAMPROW rows[1] = {row.data()};
    jpeg_read_scanlines(&info, rows, 1);
    to_rgb(row.data(), info, out.image.pixel(0, static_cast<int>(y)));
  }
  jpeg_finish_decompress(&info);
}

void find_orientation(const jpeg_decompress_struct& info, StoredImage& out) {
  for (jpeg_saved_marker_ptr m = info.marker_list; m != nullptr; m = m->next)
    if (m->marker == JPEG_APP0 + 1 && m->data_length > 6 && m->data[0] == 'E')
      out.orientation = exif_orientation({m->data, m->data_length});
}

// Eighths of the size to decode at: the fewest of 1, 2, 4 and 8 that leave the sides that are
// needed. libjpeg takes them from the lowest frequencies of each block.
int eighths_for(const DecodeJob& job, const jpeg_decompress_struct& info) {
  if (job.least_longer <= 0 && job.least_shorter <= 0) return 8;
  const int64_t longer = std::max(info.image_width, info.image_height);
  const int64_t shorter = std::min(info.image_width, info.image_height);
  for (const int eighths : {1, 2, 4})
    if (longer * eighths / 8 >= job.least_longer && shorter * eighths / 8 >= job.least_shorter)
      return eighths;
  return 8;
}

struct Decompressor {
  jpeg_decompress_struct info = {};
  ErrorState errors = {};
  jpeg_progress_mgr progress = {};

  Decompressor() {
    info.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = on_error;
    errors.manager.emit_message = on_message;
  }
  ~Decompressor() { jpeg_destroy_decompress(&info); }
};

// False after an error.
bool read_header(Decompressor& d, Bytes file) {
  if (setjmp(d.errors.escape)) return false;
  jpeg_create_decompress(&d.info);
  d.progress.progress_monitor = on_progress;
  d.info.progress = &d.progress;
  jpeg_mem_src(&d.info, file.data(), file.size());
  jpeg_save_markers(&d.info, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&d.info, TRUE);
  const J_COLOR_SPACE stored = d.info.jpeg_color_space;
  d.info.out_color_space = stored == JCS_GRAYSCALE                    ? JCS_GRAYSCALE
                           : stored == JCS_CMYK || stored == JCS_YCCK ? JCS_CMYK
                                                                      : JCS_RGB;
  return true;
}

bool read_pixels(Decompressor& d, StoredImage& out, std::vector<uint8_t>& row) {
  if (setjmp(d.errors.escape)) return false;
  decode_pixels(d.info, out, row);
  return true;
}

[[noreturn]] void fail(const Decompressor& d) {
  if (d.errors.is_truncated)
    throw DataError("ends before its image is complete (a truncated JPEG)");
  throw DataError(fmt::format("is a damaged JPEG: {}", d.errors.message));
}

}  // namespace

StoredImage decode_jpeg(const DecodeJob& job) {
  Decompressor d;
  if (!read_header(d, job.file)) fail(d);
  check_size(d.info.image_width, d.info.image_height, job);
  StoredImage out;
  out.full_width = static_cast<int>(d.info.image_width);
  out.full_height = static_cast<int>(d.info.image_height);
  d.info.scale_num = static_cast<unsigned>(eighths_for(job, d.info));
  d.info.scale_denom = 8;
  jpeg_calc_output_dimensions(&d.info);
  out.image =
      make_image(static_cast<int>(d.info.output_width), static_cast<int>(d.info.output_height));
  out.image.is_gray = d.info.out_color_space == JCS_GRAYSCALE;
  std::vector<uint8_t> row(size_t{4} * d.info.output_width);
  find_orientation(d.info, out);  // the markers do not outlive the decoding
  if (!read_pixels(d, out, row)) fail(d);
  return out;
}

}  // namespace milieu::internal

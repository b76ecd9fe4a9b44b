// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/cache/image_files.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <jpeglib.h>
#include <png.h>
#include <tiffio.h>
#include <unistd.h>
#include <webp/encode.h>

#include <cmath>
#include <fstream>

namespace milieu::testing {
namespace {

// The shortest EXIF block that holds an orientation.
FileBytes exif_block(int orientation) {
  const char head[] = "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0";
  FileBytes block(head, head + sizeof head - 1);
  block.push_back(static_cast<uint8_t>(orientation));
  block.insert(block.end(), 6, 0);
  return block;
}

void append_png(png_structp png, png_bytep data, size_t size) {
  auto* bytes = static_cast<FileBytes*>(png_get_io_ptr(png));
  bytes->insert(bytes->end(), data, data + size);
}

struct PngLayout {
  int width, height, color_type, bits;
  size_t row_bytes;
};

FileBytes write_png(const PngLayout& layout, const FileBytes& rows, const FileBytes& palette) {
  FileBytes bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &bytes, append_png, nullptr);
  png_set_IHDR(png, info, layout.width, layout.height, layout.bits, layout.color_type,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  std::vector<png_color> colors;
  for (size_t i = 0; i + 2 < palette.size(); i += 3)
    colors.push_back({palette[i], palette[i + 1], palette[i + 2]});
  if (!colors.empty()) png_set_PLTE(png, info, colors.data(), static_cast<int>(colors.size()));
  png_write_info(png, info);
  for (int y = 0; y < layout.height; ++y) png_write_row(png, rows.data() + layout.row_bytes * y);
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

void put_number(FileBytes& bytes, uint32_t value, int size) {
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

}  // namespace

Image smooth_image(int width, int height) {
  Image image = make_image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double u = (x + 0.5) / width, v = (y + 0.5) / height;
      image.pixel(x, y)[0] = static_cast<uint8_t>(20 + 200 * u);
      image.pixel(x, y)[1] = static_cast<uint8_t>(30 + 180 * v);
      image.pixel(x, y)[2] = static_cast<uint8_t>(128 + 60 * std::sin(3 * u + 5 * v));
    }
  return image;
}

FileBytes to_jpeg(const Image& image, const JpegSpec& spec) {
  jpeg_compress_struct info = {};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = image.width;
  info.image_height = image.height;
  info.input_components = spec.is_gray ? 1 : 3;
  info.in_color_space = spec.is_gray ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, spec.quality, TRUE);
  if (spec.is_progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  if (spec.orientation > 0) {
    const FileBytes exif = exif_block(spec.orientation);
    jpeg_write_marker(&info, JPEG_APP0 + 1, exif.data(), static_cast<unsigned>(exif.size()));
  }
  const Matrix<float> gray = image.gray();
  FileBytes row(size_t{3} * image.width);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x)
      if (spec.is_gray)
        row[x] = static_cast<uint8_t>(std::lround(gray(y, x)));
      else
        std::memcpy(&row[3 * x], image.pixel(x, y), 3);
    JSAMPROW rows[1] = {row.data()};
    jpeg_write_scanlines(&info, rows, 1);
  }
  jpeg_finish_compress(&info);
  const FileBytes bytes(memory, memory + size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return bytes;
}

FileBytes to_png(const Image& image) {
  return write_png({image.width, image.height, PNG_COLOR_TYPE_RGB, 8, size_t{3} * image.width},
                   image.rgb, {});
}

FileBytes to_png(int width, int height, int channels, int bits,
                 const std::vector<uint16_t>& samples) {
  const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                       PNG_COLOR_TYPE_RGB_ALPHA};
  FileBytes rows;
  for (const uint16_t sample : samples) {
    if (bits == 16) rows.push_back(static_cast<uint8_t>(sample >> 8));
    rows.push_back(static_cast<uint8_t>(sample));
  }
  return write_png(
      {width, height, types[channels - 1], bits, static_cast<size_t>(width) * channels * bits / 8},
      rows, {});
}

FileBytes to_palette_png(int width, int height, const std::vector<uint8_t>& indices,
                         const std::vector<uint8_t>& palette) {
  return write_png({width, height, PNG_COLOR_TYPE_PALETTE, 8, static_cast<size_t>(width)}, indices,
                   palette);
}

FileBytes to_tiff(const Image& image, int orientation, int bits) {
  std::FILE* file = std::tmpfile();
  TIFF* tiff = TIFFFdOpen(dup(fileno(file)), "image", "w");
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, image.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, image.height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, orientation);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 4);
  for (int y = 0; y < image.height; ++y) {
    std::vector<uint16_t> wide;
    for (int i = 0; i < 3 * image.width; ++i)
      wide.push_back(static_cast<uint16_t>(image.pixel(0, y)[i] * 257));
    FileBytes narrow(image.pixel(0, y), image.pixel(0, y) + 3 * image.width);
    TIFFWriteScanline(tiff, bits == 16 ? static_cast<void*>(wide.data()) : narrow.data(), y);
  }
  TIFFClose(tiff);
  std::fseek(file, 0, SEEK_END);
  FileBytes bytes(static_cast<size_t>(std::ftell(file)));
  std::rewind(file);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  return bytes;
}

FileBytes to_webp(const Image& image) {
  uint8_t* memory = nullptr;
  const size_t size =
      WebPEncodeLosslessRGB(image.rgb.data(), image.width, image.height, 3 * image.width, &memory);
  const FileBytes bytes(memory, memory + size);
  WebPFree(memory);
  return bytes;
}

FileBytes to_bmp(const Image& image) {
  const size_t stride = (size_t{3} * image.width + 3) / 4 * 4;
  FileBytes bytes = {'B', 'M'};
  for (const uint32_t value :
       {static_cast<uint32_t>(54 + stride * image.height), 0u, 54u, 40u,
        static_cast<uint32_t>(image.width), static_cast<uint32_t>(image.height)})
    put_number(bytes, value, 4);
  put_number(bytes, 1, 2);
  put_number(bytes, 24, 2);
  bytes.insert(bytes.end(), 24, 0);
  for (int y = image.height - 1; y >= 0; --y) {
    for (int x = 0; x < image.width; ++x)
      for (int c = 2; c >= 0; --c) bytes.push_back(image.pixel(x, y)[c]);
    bytes.insert(bytes.end(), stride - size_t{3} * image.width, 0);
  }
  return bytes;
}

FileBytes to_ppm(const Image& image) {
  const std::string head = "P6\n# made by a test\n" + std::to_string(image.width) + " " +
                           std::to_string(image.height) + "\n255\n";
  FileBytes bytes(head.begin(), head.end());
  bytes.insert(bytes.end(), image.rgb.begin(), image.rgb.end());
  return bytes;
}

void write_bytes(const std::string& path, const FileBytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

}  // namespace milieu::testing

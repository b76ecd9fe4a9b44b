// SPDX-License-Identifier: Apache-2.0
// Layout of a .npy file: "\x93NUMPY", major and minor version, the header's length (2 bytes in
// version 1, 4 in versions 2 and 3, little-endian), the header, the elements.
#include "milieu/data/format/npy.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/atomic_file.h"
#include "milieu/data/format/npy_header.h"
#include "milieu/data/printable.h"

namespace milieu {
namespace {

using namespace internal;

constexpr std::string_view kMagic("\x93NUMPY", 6);

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[noreturn]] void fail_truncated_header(const std::string& source) {
  throw DataError(fmt::format("{} is truncated: it ends inside the .npy header", source));
}

// Where the header's text lies; checks magic, version and length.
std::string_view header_text(std::string_view file, const std::string& source) {
  if (file.empty()) throw DataError(fmt::format("{} is empty (0 bytes)", source));
  if (!file.starts_with(kMagic.substr(0, file.size())))
    throw DataError(
        fmt::format("{} is not a .npy file: it does not start with \\x93NUMPY", source));
  if (file.size() < kMagic.size() + 2) fail_truncated_header(source);
  const int major = static_cast<unsigned char>(file[6]);
  const int minor = static_cast<unsigned char>(file[7]);
  if (major < 1 || major > 3 || minor != 0)
    throw DataError(
        fmt::format("{} has .npy version {}.{}, must be 1.0, 2.0 or 3.0", source, major, minor));
  const size_t length_bytes = major == 1 ? 2 : 4;
  const size_t begin = kMagic.size() + 2 + length_bytes;
  if (file.size() < begin) fail_truncated_header(source);
  uint32_t length = 0;
  std::memcpy(&length, file.data() + kMagic.size() + 2, length_bytes);
  if (length > kMaxNpyHeaderBytes)
    throw DataError(fmt::format("{} has a .npy header of {}, must be at most {}", source,
                                counted(length, "byte"), kMaxNpyHeaderBytes));
  if (file.size() - begin < length) fail_truncated_header(source);
  return file.substr(begin, length);
}

// The number of bytes that the header promises; checks that the shape can be counted.
int64_t promised_bytes(const NpyHeader& header, const std::string& source) {
  if (header.shape.empty())
    throw DataError(fmt::format("{} holds a single number (shape ()), must be an array", source));
  const int64_t count = checked_product(header.shape);
  const int64_t cols = checked_product(std::span(header.shape).subspan(1));
  const int64_t bytes = checked_product(std::vector<int64_t>{count, header.item_bytes});
  if (count < 0 || cols < 0 || bytes < 0)
    throw DataError(
        fmt::format("{} has shape {}, which overflows 64 bits", source, shape_text(header.shape)));
  return bytes;
}

void require_size(size_t has, int64_t needs, const NpyHeader& header, const std::string& source) {
  const uint64_t needed = static_cast<uint64_t>(needs);
  if (has < needed)
    throw DataError(fmt::format(
        "{} is truncated: {} of {} need {} after the header, the "
        "file has {}",
        source, shape_text(header.shape), element_name(header.type), counted(needs, "byte"), has));
  if (has > needed)
    throw DataError(
        fmt::format("{} has {} after its array, must have none: was something appended?", source,
                    counted(static_cast<int64_t>(has - needed), "byte")));
}

// A version 1.0 header whose data start at a multiple of 64 bytes, as numpy's own.
std::string make_header(std::string_view descr, std::span<const int64_t> shape) {
  constexpr size_t kAlignment = 64;
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr,
                                 shape_text(shape));
  const size_t prefix = kMagic.size() + 4;
  while ((prefix + dict.size() + 1) % kAlignment != 0) dict.push_back(' ');
  dict.push_back('\n');
  std::string header(kMagic);
  header +=
      {'\x01', '\x00', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  return header + dict;
}

template <class T>
void write_rows(const std::string& path, const char* descr, MatrixView<const T> matrix,
                std::span<const int64_t> shape) {
  AtomicFile file(path);
  file.write(make_header(descr, shape));
  for (int64_t i = 0; i < matrix.rows(); ++i)
    file.write(matrix.row(i), static_cast<size_t>(matrix.cols()) * sizeof(T));
  file.commit();
}

template <class T>
void write_matrix(const std::string& path, const char* descr, MatrixView<const T> matrix) {
  write_rows(path, descr, matrix, std::vector<int64_t>{matrix.rows(), matrix.cols()});
}

template <class T>
void write_vector(const std::string& path, const char* descr, std::span<const T> values) {
  const int64_t size = static_cast<int64_t>(values.size());
  write_rows(path, descr, MatrixView<const T>(values.data(), 1, size), std::vector<int64_t>{size});
}

}  // namespace

bool looks_like_npy(std::span<const std::byte> file) { return as_text(file).starts_with(kMagic); }

RawArray parse_npy(std::span<const std::byte> file, const std::string& source) {
  const std::string_view text = header_text(as_text(file), source);
  NpyHeader header = parse_npy_header(text, source);
  const auto data =
      file.subspan(static_cast<size_t>(text.data() + text.size() - as_text(file).data()));
  require_size(data.size(), promised_bytes(header, source), header, source);
  RawArray array;
  array.type = header.type;
  array.item_bytes = header.item_bytes;
  array.is_big_endian = header.is_big_endian;
  array.is_fortran_order = header.is_fortran_order;
  array.shape = std::move(header.shape);
  array.data = data;
  array.source = source;
  return array;
}

RawArray open_npy(const std::string& path) { return open_npy(MappedFile::open(path), path); }

RawArray open_npy(std::shared_ptr<const MappedFile> file, const std::string& source) {
  RawArray array = parse_npy(file->bytes(), source);
  array.is_mapped = file->is_mapped();
  array.owner = std::move(file);
  return array;
}

std::string npy_float_header(std::span<const int64_t> shape) { return make_header("<f4", shape); }

void write_npy(const std::string& path, MatrixView<const float> matrix) {
  write_matrix(path, "<f4", matrix);
}
void write_npy(const std::string& path, MatrixView<const double> matrix) {
  write_matrix(path, "<f8", matrix);
}
void write_npy(const std::string& path, MatrixView<const int32_t> matrix) {
  write_matrix(path, "<i4", matrix);
}
void write_npy(const std::string& path, MatrixView<const int64_t> matrix) {
  write_matrix(path, "<i8", matrix);
}
void write_npy(const std::string& path, std::span<const float> values) {
  write_vector(path, "<f4", values);
}
void write_npy(const std::string& path, std::span<const double> values) {
  write_vector(path, "<f8", values);
}
void write_npy(const std::string& path, std::span<const int32_t> values) {
  write_vector(path, "<i4", values);
}
void write_npy(const std::string& path, std::span<const int64_t> values) {
  write_vector(path, "<i8", values);
}

}  // namespace milieu

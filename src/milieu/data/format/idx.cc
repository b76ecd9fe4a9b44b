// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/idx.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/data/format/gzip.h"

namespace milieu {
namespace {

constexpr size_t kMagicBytes = 4;
constexpr int kMaxExtents = 16;

std::optional<ElementType> type_from_code(std::byte code) {
  switch (std::to_integer<int>(code)) {
    case 0x08:
      return ElementType::Uint8;
    case 0x09:
      return ElementType::Int8;
    case 0x0b:
      return ElementType::Int16;
    case 0x0c:
      return ElementType::Int32;
    case 0x0d:
      return ElementType::Float32;
    case 0x0e:
      return ElementType::Float64;
    default:
      return std::nullopt;
  }
}

[[noreturn]] void fail_truncated_header(const std::string& source) {
  throw DataError(fmt::format("{} is truncated: it ends inside the idx header", source));
}

// Type and number of extents from the first four bytes.
RawArray parse_magic(std::span<const std::byte> magic, const std::string& source) {
  if (magic.empty()) throw DataError(fmt::format("{} is empty (0 bytes)", source));
  if (magic.size() < kMagicBytes) fail_truncated_header(source);
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0})
    throw DataError(
        fmt::format("{} is not an idx file: it does not start with two zero bytes", source));
  const std::optional<ElementType> type = type_from_code(magic[2]);
  if (!type)
    throw DataError(
        fmt::format("{} has idx type {:#04x}, must be 0x08, 0x09, 0x0b, 0x0c, 0x0d or "
                    "0x0e",
                    source, std::to_integer<int>(magic[2])));
  const int num_extents = std::to_integer<int>(magic[3]);
  if (num_extents < 1 || num_extents > kMaxExtents)
    throw DataError(
        fmt::format("{} has {} idx extents, must be 1 to {}", source, num_extents, kMaxExtents));
  RawArray array;
  array.type = *type;
  array.item_bytes = element_bytes(*type);
  array.is_big_endian = true;
  array.shape.resize(static_cast<size_t>(num_extents));
  array.source = source;
  return array;
}

size_t extents_bytes(const RawArray& array) { return 4 * array.shape.size(); }

// Fills the shape and returns the number of bytes that the elements take.
int64_t parse_extents(std::span<const std::byte> bytes, RawArray& array) {
  if (bytes.size() < extents_bytes(array)) fail_truncated_header(array.source);
  for (size_t i = 0; i < array.shape.size(); ++i) {
    int64_t extent = 0;
    for (size_t k = 0; k < 4; ++k)
      extent = extent << 8 | std::to_integer<int64_t>(bytes[4 * i + k]);
    array.shape[i] = extent;
  }
  const int64_t count = checked_product(array.shape);
  const int64_t size = checked_product(std::vector<int64_t>{count, array.item_bytes});
  if (count < 0 || size < 0 || array.cols() < 0)
    throw DataError(fmt::format("{} has shape {}, which overflows 64 bits", array.source,
                                shape_text(array.shape)));
  return size;
}

[[noreturn]] void fail_truncated_data(const RawArray& array, int64_t needs, size_t has) {
  throw DataError(
      fmt::format("{} is truncated: {} of {} need {} after the header, the file "
                  "has {}",
                  array.source, shape_text(array.shape), element_name(array.type),
                  counted(needs, "byte"), has));
}

[[noreturn]] void fail_trailing_data(const RawArray& array) {
  throw DataError(
      fmt::format("{} has trailing bytes after its array, must have none", array.source));
}

RawArray parse_plain(std::span<const std::byte> file, const std::string& source) {
  RawArray array = parse_magic(file.first(std::min(file.size(), kMagicBytes)), source);
  const std::span<const std::byte> rest = file.subspan(kMagicBytes);
  const int64_t needs = parse_extents(rest, array);
  array.data = rest.subspan(extents_bytes(array));
  if (array.data.size() < static_cast<uint64_t>(needs))
    fail_truncated_data(array, needs, array.data.size());
  if (array.data.size() > static_cast<uint64_t>(needs)) fail_trailing_data(array);
  return array;
}

// The header is inflated first; memory for the elements is taken only when the compressed file can
// hold as many, and one byte more than promised is enough to refuse the rest.
RawArray parse_gzip(std::span<const std::byte> file, const std::string& source) {
  GzipReader reader(file, source);
  std::array<std::byte, kMagicBytes> magic = {};
  RawArray array = parse_magic(std::span(magic).first(reader.read(magic)), source);
  std::vector<std::byte> extents(extents_bytes(array));
  const size_t got_extents = reader.read(extents);
  const int64_t needs = parse_extents(std::span(extents).first(got_extents), array);
  if (needs / kMaxInflation > static_cast<int64_t>(file.size()))
    throw DataError(
        fmt::format("{} promises {} for shape {}, more than {} compressed bytes "
                    "can hold",
                    source, counted(needs, "byte"), shape_text(array.shape), file.size()));
  auto data = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(needs));
  const size_t got = reader.read(*data);
  if (got < data->size()) fail_truncated_data(array, needs, got);
  std::byte extra = {};
  if (reader.read({&extra, 1}) > 0) fail_trailing_data(array);
  array.data = *data;
  array.owner = std::move(data);
  return array;
}

}  // namespace

bool looks_like_idx(std::span<const std::byte> file) {
  return file.size() >= kMagicBytes && file[0] == std::byte{0} && file[1] == std::byte{0} &&
         type_from_code(file[2]) && file[3] >= std::byte{1} && file[3] <= std::byte{kMaxExtents};
}

RawArray parse_idx(std::span<const std::byte> file, const std::string& source) {
  return looks_like_gzip(file) ? parse_gzip(file, source) : parse_plain(file, source);
}

RawArray open_idx(const std::string& path) { return open_idx(MappedFile::open(path), path); }

RawArray open_idx(std::shared_ptr<const MappedFile> file, const std::string& source) {
  RawArray array = parse_idx(file->bytes(), source);
  if (array.owner == nullptr) {
    array.is_mapped = file->is_mapped();
    array.owner = std::move(file);
  }
  return array;
}

}  // namespace milieu

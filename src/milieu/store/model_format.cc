// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "milieu/store/model_format_internal.h"

namespace milieu::internal {

namespace {

struct Dtype {
  std::string_view name;
  int64_t size;
};
constexpr std::array<Dtype, 5> kDtypes = {
    {{"F32", 4}, {"F64", 8}, {"I32", 4}, {"I64", 8}, {"U8", 1}}};

}  // namespace

int64_t element_size(std::string_view dtype) {
  for (const Dtype& known : kDtypes)
    if (known.name == dtype) return known.size;
  return 0;
}

std::string known_dtypes() {
  std::string names;
  for (const Dtype& known : kDtypes) {
    if (!names.empty()) names += ", ";
    names += known.name;
  }
  return names;
}

int64_t array_bytes(std::string_view dtype, std::span<const int64_t> shape) {
  int64_t bytes = element_size(dtype);
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) return -1;
  return bytes;
}

std::string shape_text(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string Checksum::digits() const { return fmt::format("{:08x}", crc_); }

}  // namespace milieu::internal

// SPDX-License-Identifier: Apache-2.0
// How the elements of a RawArray are read. An element is taken byte by byte (files promise no
// alignment), swapped when the file is big-endian, then handed on in its own type.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "milieu/base/error.h"
#include "milieu/data/format/raw_array.h"

namespace milieu::internal {

static_assert(std::endian::native == std::endian::little, "Milieu runs on little-endian machines");

// IEEE half precision.
struct Half {
  uint16_t bits;
  operator float() const {
    const uint32_t sign = (bits & 0x8000u) << 16;
    const uint32_t exponent = (bits >> 10) & 0x1fu;
    const uint32_t fraction = bits & 0x3ffu;
    if (exponent == 0) {  // zero and subnormal: fraction * 2^-24, exact in float
      const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
      return sign != 0 ? -magnitude : magnitude;
    }
    const uint32_t wide = exponent == 0x1fu ? 0xffu : exponent + 112;
    return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
  }
};

// Any byte but zero is true.
struct BoolByte {
  uint8_t byte;
  operator float() const { return byte != 0 ? 1.0f : 0.0f; }
};

template <class T, bool kSwap>
T load_element(const std::byte* address) {
  T value;
  if constexpr (kSwap) {
    std::byte raw[sizeof(T)];
    std::reverse_copy(address, address + sizeof(T), raw);
    std::memcpy(&value, raw, sizeof(T));
  } else {
    std::memcpy(&value, address, sizeof(T));
  }
  return value;
}

// Calls visit(load) where load(address) gives an element in its own type.
template <class T, class Visit>
void visit_byte_order(const RawArray& array, Visit&& visit) {
  if (array.is_big_endian && sizeof(T) > 1)
    visit([](const std::byte* address) { return load_element<T, true>(address); });
  else
    visit([](const std::byte* address) { return load_element<T, false>(address); });
}

template <class Visit>
void visit_elements(const RawArray& array, Visit&& visit) {
  switch (array.type) {
    case ElementType::Bool:
      return visit_byte_order<BoolByte>(array, visit);
    case ElementType::Int8:
      return visit_byte_order<int8_t>(array, visit);
    case ElementType::Int16:
      return visit_byte_order<int16_t>(array, visit);
    case ElementType::Int32:
      return visit_byte_order<int32_t>(array, visit);
    case ElementType::Int64:
      return visit_byte_order<int64_t>(array, visit);
    case ElementType::Uint8:
      return visit_byte_order<uint8_t>(array, visit);
    case ElementType::Uint16:
      return visit_byte_order<uint16_t>(array, visit);
    case ElementType::Uint32:
      return visit_byte_order<uint32_t>(array, visit);
    case ElementType::Uint64:
      return visit_byte_order<uint64_t>(array, visit);
    case ElementType::Float16:
      return visit_byte_order<Half>(array, visit);
    case ElementType::Float32:
      return visit_byte_order<float>(array, visit);
    case ElementType::Float64:
      return visit_byte_order<double>(array, visit);
    case ElementType::Text:
    case ElementType::Utf32Text:
      break;
  }
  throw DataError(fmt::format("{} holds text, must hold numbers", array.source));
}

// The value as a whole number; false when it is a fraction, NaN or beyond what int64_t (integers)
// or a double's 53 bits (floats) can represent.
template <class T>
bool to_integer(T value, int64_t& out) {
  if constexpr (std::is_integral_v<T>) {
    if (!std::in_range<int64_t>(value)) return false;
    out = static_cast<int64_t>(value);
    return true;
  } else {
    constexpr double kLargest = 9007199254740992.0;  // 2^53
    const double number = static_cast<double>(value);
    if (!(std::abs(number) <= kLargest) || number != std::trunc(number)) return false;
    out = static_cast<int64_t>(number);
    return true;
  }
}

// Where elements of the flattened matrix are in the file: [row, col] is element number
// row * row_step() + col_offset(col).
class ElementOrder {
 public:
  explicit ElementOrder(const RawArray& array)
      : array_(array), row_step_(array.is_fortran_order ? 1 : array.cols()) {}

  int64_t row_step() const { return row_step_; }
  // Columns count with the last index fastest; a Fortran file with the first index fastest.
  int64_t col_offset(int64_t col) const {
    if (!array_.is_fortran_order) return col;
    int64_t stride = array_.data.empty() ? 0 : array_.rows() * array_.cols();
    int64_t offset = 0;
    for (size_t axis = array_.shape.size(); axis-- > 1;) {
      stride /= array_.shape[axis];
      offset += col % array_.shape[axis] * stride;
      col /= array_.shape[axis];
    }
    return offset;
  }

 private:
  const RawArray& array_;
  int64_t row_step_;
};

}  // namespace milieu::internal

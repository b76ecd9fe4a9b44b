// SPDX-License-Identifier: Apache-2.0
#include "milieu/data/format/raw_array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "milieu/base/parallel.h"
#include "milieu/data/format/raw_array_internal.h"

namespace milieu {
namespace {

using internal::ElementOrder;
using internal::visit_elements;

struct ElementInfo {
  const char* name;
  int64_t bytes;
};

ElementInfo element_info(ElementType type) {
  switch (type) {
    case ElementType::Bool:
      return {"bool", 1};
    case ElementType::Int8:
      return {"int8", 1};
    case ElementType::Int16:
      return {"int16", 2};
    case ElementType::Int32:
      return {"int32", 4};
    case ElementType::Int64:
      return {"int64", 8};
    case ElementType::Uint8:
      return {"uint8", 1};
    case ElementType::Uint16:
      return {"uint16", 2};
    case ElementType::Uint32:
      return {"uint32", 4};
    case ElementType::Uint64:
      return {"uint64", 8};
    case ElementType::Float16:
      return {"float16", 2};
    case ElementType::Float32:
      return {"float32", 4};
    case ElementType::Float64:
      return {"float64", 8};
    case ElementType::Text:
    case ElementType::Utf32Text:
      break;
  }
  return {"text", 0};
}

// The bytes are a row-major float matrix as they are.
bool can_be_viewed(const RawArray& array) {
  const bool is_row_major = !array.is_fortran_order || array.rows() <= 1 || array.cols() <= 1;
  const bool is_aligned = reinterpret_cast<uintptr_t>(array.data.data()) % alignof(float) == 0;
  // A row of a Fortran array with more than two axes is permuted in itself.
  const bool is_flat = !array.is_fortran_order || array.shape.size() <= 2;
  return array.type == ElementType::Float32 && !array.is_big_endian && is_row_major && is_flat &&
         is_aligned;
}

// Row i of the result is row row_from_index(i) of the file. Blocks are read column by column in
// Fortran files, so that each touched cache line is used in full.
template <class Load, class RowFromIndex>
void convert(const RawArray& array, Load load, RowFromIndex row_from_index, Matrix<float>& out,
             int num_threads) {
  const ElementOrder order(array);
  const int64_t cols = array.cols();
  const int64_t bytes = array.item_bytes;
  const int64_t rows_per_block = std::max<int64_t>(64, (int64_t{1} << 18) / cols);
  parallel_for(out.rows(), rows_per_block, num_threads, [&](const Block& block) {
    if (!array.is_fortran_order) {
      for (int64_t i = block.begin; i < block.end; ++i) {
        const std::byte* from = array.data.data() + row_from_index(i) * cols * bytes;
        float* to = out.row(i);
        for (int64_t j = 0; j < cols; ++j) to[j] = static_cast<float>(load(from + j * bytes));
      }
      return;
    }
    for (int64_t j = 0; j < cols; ++j) {
      const std::byte* from = array.data.data() + order.col_offset(j) * bytes;
      for (int64_t i = block.begin; i < block.end; ++i)
        out(i, j) = static_cast<float>(load(from + row_from_index(i) * bytes));
    }
  });
}

template <class RowFromIndex>
Points converted(const RawArray& array, int64_t rows, RowFromIndex row_from_index,
                 int num_threads) {
  if (array.is_text())
    throw DataError(fmt::format("{} holds text, must hold numbers", array.source));
  Matrix<float> out(rows, array.cols());
  if (out.empty()) return Points(std::move(out));
  visit_elements(array, [&](auto load) { convert(array, load, row_from_index, out, num_threads); });
  return Points(std::move(out));
}

}  // namespace

const char* element_name(ElementType type) { return element_info(type).name; }

int64_t element_bytes(ElementType type) { return element_info(type).bytes; }

int64_t RawArray::cols() const { return checked_product(std::span(shape).subspan(1)); }

int64_t checked_product(std::span<const int64_t> extents) {
  int64_t product = 1;
  for (const int64_t extent : extents)
    if (__builtin_mul_overflow(product, extent, &product)) return -1;
  return product;
}

std::string shape_text(std::span<const int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

Points to_points(const RawArray& array, int num_threads) {
  if (can_be_viewed(array)) {
    const auto* values = reinterpret_cast<const float*>(array.data.data());
    return Points(FloatView(values, array.rows(), array.cols()), array.owner, array.is_mapped);
  }
  return converted(
      array, array.rows(), [](int64_t i) { return i; }, num_threads);
}

Points to_points(const RawArray& array, const std::vector<int64_t>& rows, int num_threads) {
  if (can_be_viewed(array)) return to_points(array).gather(rows, num_threads);
  return converted(
      array, static_cast<int64_t>(rows.size()),
      [&](int64_t i) { return rows[static_cast<size_t>(i)]; }, num_threads);
}

double element_at(const RawArray& array, int64_t row, int64_t col) {
  const ElementOrder order(array);
  const int64_t index = row * order.row_step() + order.col_offset(col);
  double value = 0;
  visit_elements(array, [&](auto load) {
    value = static_cast<double>(load(array.data.data() + index * array.item_bytes));
  });
  return value;
}

std::vector<int64_t> to_integers(const RawArray& array) {
  if (array.cols() != 1)
    throw DataError(fmt::format("{} has shape {}, must be one column of labels", array.source,
                                shape_text(array.shape)));
  std::vector<int64_t> integers(static_cast<size_t>(array.rows()));
  visit_elements(array, [&](auto load) {
    for (size_t i = 0; i < integers.size(); ++i) {
      const auto value = load(array.data.data() + static_cast<int64_t>(i) * array.item_bytes);
      if (!internal::to_integer(value, integers[i]))
        throw DataError(fmt::format("{}: row {} (counted from 0) is {}, must be a whole number",
                                    array.source, i, static_cast<double>(value)));
    }
  });
  return integers;
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// A numeric array as stored in a file (.npy, idx): element type, byte order, shape, bytes.
// Opening one touches only its header; the bytes become points or labels when they are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/data/points.h"

namespace MILIEU_API milieu {

enum class ElementType {
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Float16,
  Float32,
  Float64,
  Text,       // fixed-length byte strings (numpy's S)
  Utf32Text,  // fixed-length strings of 4-byte code points (numpy's U)
};

// "float32"; "text" for both kinds of strings.
const char* element_name(ElementType type);
// Bytes of one number; 0 for text, whose length is the array's own.
int64_t element_bytes(ElementType type);

// What must hold (readers see to it): shape has at least one extent, none negative; their product
// times item_bytes is data.size() and fits into int64_t.
struct RawArray {
  ElementType type = ElementType::Float32;
  int64_t item_bytes = 4;
  bool is_big_endian = false;
  bool is_fortran_order = false;  // the first index runs fastest
  bool is_mapped = false;         // `data` lies in a mapped file
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
  std::shared_ptr<const void> owner;  // keeps `data` alive; null: the caller does
  std::string source;                 // the file, for messages

  // As a matrix: the first extent are the samples, the others are flattened (images become rows of
  // pixels); a 1-D array of n numbers is n x 1.
  int64_t rows() const { return shape[0]; }
  int64_t cols() const;
  bool is_text() const { return element_bytes(type) == 0; }
};

// Product of the extents; -1 when it does not fit into int64_t.
int64_t checked_product(std::span<const int64_t> extents);
// "(60000, 28, 28)".
std::string shape_text(std::span<const int64_t> shape);

// The array as float points: all rows, or the given ones (each in [0, rows())). Numbers that float
// cannot hold are rounded to the nearest float. Little-endian float32 in C order is not copied as
// long as `rows` is one ascending stretch. Text is a DataError.
Points to_points(const RawArray& array, int num_threads = 0);
Points to_points(const RawArray& array, const std::vector<int64_t>& rows, int num_threads = 0);

// One element as double, for messages. Not for text.
double element_at(const RawArray& array, int64_t row, int64_t col);

// The array as one column of whole numbers; shapes n, n x 1 and n x 1 x ... are allowed. Fractions,
// NaN and numbers beyond 64 bits are a DataError that names the row.
std::vector<int64_t> to_integers(const RawArray& array);
// Text arrays as UTF-8, trailing zeros removed.
std::vector<std::string> to_texts(const RawArray& array);

}  // namespace milieu

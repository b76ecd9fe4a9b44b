// SPDX-License-Identifier: Apache-2.0
// numpy's .npy files, format versions 1 to 3. Numbers of every size are read (b1 i1 i2 i4 i8 u1 u2
// u4 u8 f2 f4 f8, either byte order, C and Fortran order), text (S, U) as labels only; complex
// numbers, dates, Python objects, structured and long double types are refused by name.
//
// Files are not trusted: the header is parsed by its own strict grammar (numpy's is "any
// Python literal"), and every size is checked against the file before memory is touched.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "milieu/base/export.h"
#include "milieu/data/format/raw_array.h"
#include "milieu/data/mapped_file.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

// Headers longer than this are refused; numpy writes 128 bytes.
inline constexpr uint32_t kMaxNpyHeaderBytes = 65536;

// Starts with the six magic bytes of a .npy file.
bool looks_like_npy(std::span<const std::byte> file);

// Parses a whole file in memory; the array's data points into `file`. Throws DataError, one message
// per fault; `source` names the file in it.
RawArray parse_npy(std::span<const std::byte> file, const std::string& source);

// The same of a file on disk, kept open by the array. Reads the header only: a few microseconds for
// any size of file. NaN and infinities are therefore not checked for (load_dataset does).
RawArray open_npy(const std::string& path);
RawArray open_npy(std::shared_ptr<const MappedFile> file, const std::string& source);

// The header of a float32 file of this shape, for those who write the rows piece by piece after it.
std::string npy_float_header(std::span<const int64_t> shape);

// Writes a matrix, or a 1-D array, as version 1.0 in C order, little-endian. Atomic; IoError.
void write_npy(const std::string& path, MatrixView<const float> matrix);
void write_npy(const std::string& path, MatrixView<const double> matrix);
void write_npy(const std::string& path, MatrixView<const int32_t> matrix);
void write_npy(const std::string& path, MatrixView<const int64_t> matrix);
void write_npy(const std::string& path, std::span<const float> values);
void write_npy(const std::string& path, std::span<const double> values);
void write_npy(const std::string& path, std::span<const int32_t> values);
void write_npy(const std::string& path, std::span<const int64_t> values);

}  // namespace milieu

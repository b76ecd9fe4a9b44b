// SPDX-License-Identifier: Apache-2.0
// Reads gzip'd bytes piece by piece into memory that the caller has sized: no more is ever inflated
// than was asked for.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// Starts with the two magic bytes of gzip.
bool looks_like_gzip(std::span<const std::byte> file);

// The most that deflate can expand one byte: a compressed file that claims more is invalid.
inline constexpr int64_t kMaxInflation = 1032;

class GzipReader {
 public:
  // `compressed` must outlive the reader; `source` names the file in messages.
  GzipReader(std::span<const std::byte> compressed, std::string source);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // Fills `out` as far as the data lasts and returns how many bytes there were; fewer than asked
  // for only at the end. Several gzip members in a row are one stream. Damaged data (wrong check
  // sum, cut off) are a DataError.
  size_t read(std::span<std::byte> out);

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string source_;
};

}  // namespace milieu

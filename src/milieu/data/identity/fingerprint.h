// SPDX-License-Identifier: Apache-2.0
// What a resume file, a checkpoint or a cache entry was made from, in 16 hexadecimal digits. Work
// of an earlier run is reused only if its fingerprint is that of the present one: see
// docs/decisions/0009-fingerprints.md. Example:
//
//   Fingerprint print("dcp-ranking");
//   print.options(fields_of(options)).rows(data.points.view(), options.num_threads);
//   if (kept.key != print.hex()) ...
//
// It detects changes, not attacks. The same content has the same fingerprint on every machine and
// for any number of threads. Every value is preceded by its size, so that "ab", "c" is not "a",
// "bc".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/fields.h"
#include "milieu/data/labels.h"
#include "milieu/linalg/matrix.h"

namespace MILIEU_API milieu {

class Fingerprint {
 public:
  // `kind` says what is kept ("dcp-ranking"): two kinds never share a fingerprint.
  explicit Fingerprint(std::string_view kind) { text(kind); }

  // This version of Milieu: for results that another version may compute differently.
  Fingerprint& version();
  Fingerprint& number(int64_t value);
  Fingerprint& text(std::string_view text);
  template <class T>
  Fingerprint& values(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return bytes(values.data(), values.size_bytes());
  }
  // A double by its bits.
  Fingerprint& real(double value) { return bytes(&value, sizeof(value)); }
  template <class T>
  Fingerprint& rows(MatrixView<T> rows, int num_threads = 0) {
    return table({reinterpret_cast<const char*>(rows.data()), rows.rows(), rows.cols(),
                  rows.stride(), sizeof(T)},
                 num_threads);
  }
  // Classes: names and the class of every sample.
  Fingerprint& labels(const Labels& labels);
  // Every option by name and value except num_threads, which changes no result.
  Fingerprint& options(const std::vector<Field>& fields);
  // The content of a file; of a folder the relative paths and contents of all files in it, hidden
  // ones aside. Throws IoError.
  Fingerprint& path(const std::string& path);

  uint64_t value() const { return value_; }
  std::string hex() const;  // 16 digits

 private:
  struct Table {
    const char* data;
    int64_t rows, cols, stride;
    size_t item;  // bytes
  };

  Fingerprint& bytes(const void* data, size_t count);
  Fingerprint& table(const Table& table, int num_threads);
  Fingerprint& file(const std::string& path);

  uint64_t value_ = 1;
};

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// Statistics as messages (communicator.h). A struct that travels declares its members once:
//
//   template <class Visitor>
//   void visit_arrays(Visitor&& v) { v(sums, weights, num_moved); }
//
// Numbers, vectors of numbers, vectors of those, and matrices travel. The receiver has a struct of
// the same kind ("zero"): an array of another size, or bytes left over, throw DataError, as happens
// when two ranks are of different versions.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "milieu/base/export.h"
#include "milieu/base/ranks/communicator.h"

namespace MILIEU_API milieu {

namespace internal {

template <class T>
concept Number = std::is_arithmetic_v<T>;

class Packer {
 public:
  template <class... Members>
  void operator()(Members&... members) {
    (add(members), ...);
  }
  void bytes(const void* data, size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    message_.insert(message_.end(), first, first + size);
  }
  Message take() { return std::move(message_); }

 private:
  template <Number T>
  void add(const T& value) {
    bytes(&value, sizeof(T));
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(static_cast<int64_t>(values.size()));
    if constexpr (Number<T>)
      bytes(values.data(), values.size() * sizeof(T));
    else
      for (const T& value : values) add(value);
  }
  template <class Matrix>
  requires requires(Matrix& m) { m.data(), m.rows(), m.cols(); }
  void add(const Matrix& matrix) {
    add(matrix.rows());
    add(matrix.cols());
    bytes(matrix.data(), static_cast<size_t>(matrix.size()) * sizeof(*matrix.data()));
  }
  template <class T>
  requires requires(T& t, Packer& p) { t.visit_arrays(p); }
  void add(const T& value) {
    const_cast<T&>(value).visit_arrays(*this);  // a Packer only reads
  }

  Message message_;
};

class Unpacker {
 public:
  explicit Unpacker(const Message& message) : message_(message) {}
  template <class... Members>
  void operator()(Members&... members) {
    (fill(members), ...);
  }
  void bytes(void* data, size_t size);
  void finish() const;  // throws DataError when bytes are left

 private:
  int64_t size(size_t bytes_each);
  static void check_size(int64_t found, int64_t expected);

  template <Number T>
  void fill(T& value) {
    bytes(&value, sizeof(T));
  }
  // An empty vector takes any size: statistics may leave out what they have not seen.
  template <class T>
  void fill(std::vector<T>& values) {
    const int64_t count = size(Number<T> ? sizeof(T) : 1);
    if (!values.empty()) check_size(count, static_cast<int64_t>(values.size()));
    values.resize(static_cast<size_t>(count));
    if constexpr (Number<T>)
      bytes(values.data(), values.size() * sizeof(T));
    else
      for (T& value : values) fill(value);
  }
  template <class Matrix>
  requires requires(Matrix& m) { m.data(), m.rows(), m.cols(); }
  void fill(Matrix& matrix) {
    check_size(size(0), matrix.rows());
    check_size(size(0), matrix.cols());
    bytes(matrix.data(), static_cast<size_t>(matrix.size()) * sizeof(*matrix.data()));
  }
  template <class T>
  requires requires(T& t, Unpacker& u) { t.visit_arrays(u); }
  void fill(T& value) { value.visit_arrays(*this); }

  const Message& message_;
  size_t place_ = 0;
};

}  // namespace internal

template <class Stats>
Message pack(const Stats& stats) {
  internal::Packer packer;
  packer(stats);
  return packer.take();
}

template <class Stats>
void unpack(const Message& message, Stats& stats) {
  internal::Unpacker unpacker(message);
  unpacker(stats);
  unpacker.finish();
}

template <class T>
Message pack_span(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  Message message(values.size_bytes());
  if (!message.empty()) std::memcpy(message.data(), values.data(), message.size());
  return message;
}

// Throws DataError unless the message holds as many values.
template <class T>
void unpack_span(const Message& message, std::span<T> values) {
  internal::Unpacker unpacker(message);
  unpacker.bytes(values.data(), values.size_bytes());
  unpacker.finish();
}

}  // namespace milieu

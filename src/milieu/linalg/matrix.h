// SPDX-License-Identifier: Apache-2.0
// Matrices as all of Milieu passes them: samples are rows, row-major. `MatrixView` refers to
// memory owned elsewhere (a mapped file, a Matrix, an Eigen map); `Matrix` owns its memory.
// Sample storage is float, statistics and objectives are double.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "milieu/base/assert.h"
#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// A rows x cols window on row-major memory; row i starts at data + i * stride, stride >= cols.
template <class T>
class MatrixView {
 public:
  MatrixView() = default;
  MatrixView(T* data, int64_t rows, int64_t cols) : MatrixView(data, rows, cols, cols) {}
  MatrixView(T* data, int64_t rows, int64_t cols, int64_t stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {
    MILIEU_ASSERT(rows >= 0 && cols >= 0 && stride >= cols);
  }
  // A view of T is a view of const T. A template, so that it never replaces the copy constructor.
  template <class U, class = std::enable_if_t<std::is_const_v<T> && std::is_same_v<const U, T>>>
  MatrixView(const MatrixView<U>& other)
      : MatrixView(other.data(), other.rows(), other.cols(), other.stride()) {}

  T* data() const { return data_; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  int64_t stride() const { return stride_; }
  bool empty() const { return rows_ == 0 || cols_ == 0; }
  bool is_contiguous() const { return stride_ == cols_ || rows_ <= 1; }

  T* row(int64_t i) const {
    MILIEU_ASSERT(i >= 0 && i < rows_);
    return data_ + i * stride_;
  }
  std::span<T> row_span(int64_t i) const { return {row(i), static_cast<size_t>(cols_)}; }
  T& operator()(int64_t i, int64_t j) const {
    MILIEU_ASSERT(j >= 0 && j < cols_);
    return row(i)[j];
  }
  // Rows [begin, end).
  MatrixView rows_between(int64_t begin, int64_t end) const {
    MILIEU_ASSERT(begin >= 0 && begin <= end && end <= rows_);
    return {data_ + begin * stride_, end - begin, cols_, stride_};
  }

 private:
  T* data_ = nullptr;
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  int64_t stride_ = 0;
};

using FloatView = MatrixView<const float>;    // how samples are passed
using DoubleView = MatrixView<const double>;  // how statistics are passed

// An owning rows x cols matrix, zero-initialised, contiguous, 64-byte aligned. Copies are deep.
template <class T>
class Matrix {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Matrix() = default;
  Matrix(int64_t rows, int64_t cols) : rows_(rows), cols_(cols), data_(allocate(rows * cols)) {}
  explicit Matrix(MatrixView<const T> other) : Matrix(other.rows(), other.cols()) {
    for (int64_t i = 0; i < rows_; ++i)
      std::memcpy(row(i), other.row(i), static_cast<size_t>(cols_) * sizeof(T));
  }
  Matrix(const Matrix& other) : Matrix(other.view()) {}
  Matrix& operator=(const Matrix& other) {
    if (this != &other) *this = Matrix(other.view());
    return *this;
  }
  Matrix(Matrix&& other) noexcept { swap(other); }
  Matrix& operator=(Matrix&& other) noexcept {
    swap(other);
    return *this;
  }

  MatrixView<const T> view() const { return {data_.get(), rows_, cols_}; }
  MatrixView<T> view() { return {data_.get(), rows_, cols_}; }
  operator MatrixView<const T>() const { return view(); }
  operator MatrixView<T>() { return view(); }

  const T* data() const { return data_.get(); }
  T* data() { return data_.get(); }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  int64_t size() const { return rows_ * cols_; }
  bool empty() const { return size() == 0; }
  const T* row(int64_t i) const { return view().row(i); }
  T* row(int64_t i) { return view().row(i); }
  std::span<const T> row_span(int64_t i) const { return view().row_span(i); }
  std::span<T> row_span(int64_t i) { return view().row_span(i); }
  const T& operator()(int64_t i, int64_t j) const { return view()(i, j); }
  T& operator()(int64_t i, int64_t j) { return view()(i, j); }

  friend bool operator==(const Matrix& a, const Matrix& b) {
    return a.rows_ == b.rows_ && a.cols_ == b.cols_ &&
           (a.empty() || std::memcmp(a.data(), b.data(), sizeof(T) * a.size()) == 0);
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(T* data) const { ::operator delete[](data, kAlignment); }
  };
  static std::unique_ptr<T[], Free> allocate(int64_t count) {
    MILIEU_ASSERT(count >= 0);
    if (count == 0) return nullptr;
    const size_t bytes = static_cast<size_t>(count) * sizeof(T);
    T* data = static_cast<T*>(::operator new[](bytes, kAlignment));
    std::memset(static_cast<void*>(data), 0, bytes);
    return std::unique_ptr<T[], Free>(data);
  }
  void swap(Matrix& other) noexcept {
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
    std::swap(data_, other.data_);
  }

  int64_t rows_ = 0;
  int64_t cols_ = 0;
  std::unique_ptr<T[], Free> data_;
};

}  // namespace milieu

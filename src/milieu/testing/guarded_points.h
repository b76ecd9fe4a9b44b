// SPDX-License-Identifier: Apache-2.0
// A copy of samples in memory that may only be read and that ends where a forbidden page begins:
// code that writes to its input, or reads beyond the last row, dies at once.
#pragma once

#include <cstddef>

#include "milieu/linalg/matrix.h"

namespace milieu {

class GuardedPoints {
 public:
  explicit GuardedPoints(FloatView points);
  ~GuardedPoints();
  GuardedPoints(const GuardedPoints&) = delete;
  GuardedPoints& operator=(const GuardedPoints&) = delete;

  FloatView view() const { return view_; }

 private:
  void* pages_ = nullptr;
  size_t num_bytes_ = 0;
  FloatView view_;
};

}  // namespace milieu

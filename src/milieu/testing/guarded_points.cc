// SPDX-License-Identifier: Apache-2.0
#include "milieu/testing/guarded_points.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "milieu/base/error.h"

namespace milieu {

GuardedPoints::GuardedPoints(FloatView points) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t used = static_cast<size_t>(points.rows() * points.cols()) * sizeof(float);
  const size_t readable = (used + page - 1) / page * page;
  num_bytes_ = readable + page;
  pages_ = mmap(nullptr, num_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages_ == MAP_FAILED) throw IoError("no memory for guarded points");
  std::byte* first = static_cast<std::byte*>(pages_) + (readable - used);
  for (int64_t i = 0; i < points.rows(); ++i) {
    const size_t row_bytes = static_cast<size_t>(points.cols()) * sizeof(float);
    std::memcpy(first + static_cast<size_t>(i) * row_bytes, points.row(i), row_bytes);
  }
  mprotect(pages_, readable, PROT_READ);
  mprotect(static_cast<std::byte*>(pages_) + readable, page, PROT_NONE);
  view_ = FloatView(reinterpret_cast<const float*>(first), points.rows(), points.cols());
}

GuardedPoints::~GuardedPoints() { munmap(pages_, num_bytes_); }

}  // namespace milieu

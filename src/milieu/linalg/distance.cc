// SPDX-License-Identifier: Apache-2.0
#include "milieu/linalg/distance.h"

#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/linalg/distance_loops.h"
#include "milieu/linalg/gemm.h"
#include "milieu/linalg/isa.h"

namespace milieu {

void squared_row_norms(FloatView a, std::span<float> out) {
  require(static_cast<int64_t>(out.size()) == a.rows(), [&] {
    return fmt::format("squared_row_norms: out has {}, the matrix {}: they must match",
                       counted(out.size(), "entry", "entries"), counted(a.rows(), "row"));
  });
  const auto squared_norm = MILIEU_SELECT_ISA(squared_norm);
  for (int64_t i = 0; i < a.rows(); ++i)
    out[i] = static_cast<float>(squared_norm(a.row(i), a.cols()));
}

std::vector<float> squared_row_norms(FloatView a) {
  std::vector<float> norms(a.rows());
  squared_row_norms(a, norms);
  return norms;
}

void squared_distances(FloatView a, FloatView b, MatrixView<float> out) {
  squared_distances(a, squared_row_norms(a), b, squared_row_norms(b), out);
}

void squared_distances(FloatView a, std::span<const float> squared_norms_a, FloatView b,
                       std::span<const float> squared_norms_b, MatrixView<float> out) {
  require(static_cast<int64_t>(squared_norms_a.size()) == a.rows() &&
              static_cast<int64_t>(squared_norms_b.size()) == b.rows(),
          "squared_distances: there must be one norm for each row");
  gemm_nt(-2, a, b, 0, out);
  for (int64_t i = 0; i < out.rows(); ++i) {
    float* row = out.row(i);
    for (int64_t j = 0; j < out.cols(); ++j)
      row[j] = std::max(0.0f, row[j] + (squared_norms_a[i] + squared_norms_b[j]));
  }
}

double squared_distance(const float* a, const float* b, int64_t d) {
  return MILIEU_SELECT_ISA(squared_distance)(a, b, d);
}

double squared_distance(std::span<const float> a, std::span<const float> b) {
  MILIEU_ASSERT(a.size() == b.size());
  return squared_distance(a.data(), b.data(), static_cast<int64_t>(a.size()));
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake).
#include "milieu/icc/icc_kernels.h"

namespace milieu::MILIEU_ISA {
namespace {

inline void project_plane(const float* points, int64_t rows, const double* axes,
                          const double* offset, double* t) {
  const double a = axes[0], b = axes[1], c = axes[2], d = axes[3];
  const double e = offset[0], f = offset[1];
  for (int64_t i = 0; i < rows; ++i) {
    const double x = points[2 * i], y = points[2 * i + 1];
    t[2 * i] = (e + a * x) + b * y;
    t[2 * i + 1] = (f + c * x) + d * y;
  }
}

inline double clamp(double t, double high) {
  t = t > 0 ? t : 0;
  return t < high ? t : high;
}

}  // namespace

void add_weighted_rows(const double* in, int64_t step, const double* taps, int64_t num_taps,
                       double* out, int64_t length) {
  constexpr int64_t kRun = 32;  // sums stay in registers
  int64_t j = 0;
  for (; j + kRun <= length; j += kRun) {
    double sum[kRun];
    for (int64_t l = 0; l < kRun; ++l) sum[l] = out[j + l];
    for (int64_t k = 0; k < num_taps; ++k) {
      const double* from = in + j + k * step;
      const double tap = taps[k];
      for (int64_t l = 0; l < kRun; ++l) sum[l] += tap * from[l];
    }
    for (int64_t l = 0; l < kRun; ++l) out[j + l] = sum[l];
  }
  for (int64_t k = 0; k < num_taps && j < length; ++k)
    for (int64_t l = j; l < length; ++l) out[l] += taps[k] * in[l + k * step];
}

void project_rows(const float* points, int64_t rows, int64_t stride, int64_t d, const double* axes,
                  const double* offset, int64_t p, double* t) {
  if (d == 2 && p == 2 && stride == 2) return project_plane(points, rows, axes, offset, t);
  for (int64_t i = 0; i < rows; ++i) {
    const float* row = points + i * stride;
    for (int64_t a = 0; a < p; ++a) {
      double sum = offset[a];
      for (int64_t j = 0; j < d; ++j) sum += axes[a * d + j] * row[j];
      t[i * p + a] = sum;
    }
  }
}

void nearest_cells(const double* t, int64_t rows, int64_t p, const int* size, int32_t* cells) {
  if (p == 2) {
    const double high0 = size[0] - 1, high1 = size[1] - 1;
    const int32_t width = size[1];
    for (int64_t i = 0; i < rows; ++i) {
      const auto c0 = static_cast<int32_t>(clamp(t[2 * i], high0) + 0.5);
      const auto c1 = static_cast<int32_t>(clamp(t[2 * i + 1], high1) + 0.5);
      cells[i] = c0 * width + c1;
    }
    return;
  }
  for (int64_t i = 0; i < rows; ++i) {
    int32_t cell = 0;
    for (int64_t a = 0; a < p; ++a)
      cell = cell * size[a] + static_cast<int32_t>(clamp(t[i * p + a], size[a] - 1) + 0.5);
    cells[i] = cell;
  }
}

void steepest_steps(const double* row, int64_t length, const int64_t* offsets, const int64_t* steps,
                    const double* factors, int64_t count, double* slopes, int64_t* step_of) {
  for (int64_t k = 0; k < length; ++k) {
    slopes[k] = 0;
    step_of[k] = 0;
  }
  for (int64_t o = 0; o < count; ++o) {
    const double* other = row + offsets[o];
    const double factor = factors[o];
    const int64_t step = steps[o];
    for (int64_t k = 0; k < length; ++k) {
      const double slope = (other[k] - row[k]) * factor;
      const bool is_steeper = slope > slopes[k];
      slopes[k] = is_steeper ? slope : slopes[k];
      step_of[k] = is_steeper ? step : step_of[k];
    }
  }
}

void add_moments(const float* points, int64_t rows, int64_t stride, int64_t d, const double* pivot,
                 double* sums, double* products) {
  if (d == 2) {
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const double u = points[i * stride] - pivot[0], v = points[i * stride + 1] - pivot[1];
      x += u;
      y += v;
      xx += u * u;
      xy += u * v;
      yy += v * v;
    }
    sums[0] += x;
    sums[1] += y;
    products[0] += xx;
    products[2] += xy;
    products[3] += yy;
    return;
  }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < d; ++j) {
      const double u = points[i * stride + j] - pivot[j];
      sums[j] += u;
      for (int64_t k = 0; k <= j; ++k)
        products[j * d + k] += u * (points[i * stride + k] - pivot[k]);
    }
}

}  // namespace milieu::MILIEU_ISA

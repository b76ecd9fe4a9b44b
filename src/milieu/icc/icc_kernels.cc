// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake).
#include "milieu/icc/icc_kernels.h"

namespace milieu::MILIEU_ISA {
namespace {

constexpr int64_t kRun = kSpreadRun;  // sums that stay in registers

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

void weigh_rows(const double* in, int64_t step, const double* taps, int64_t num_taps, double* out,
                int64_t length) {
  for (int64_t j = 0; j < length;) {
    if (j + kRun > length && length >= kRun) j = length - kRun;  // the last run may overlap
    const int64_t run = length < kRun ? length : kRun;
    double sum[kRun] = {};
    if (run == kRun) {
      for (int64_t k = 0; k < num_taps; ++k)
        for (int64_t l = 0; l < kRun; ++l) sum[l] += taps[k] * in[j + k * step + l];
    } else {
      for (int64_t k = 0; k < num_taps; ++k)
        for (int64_t l = 0; l < run; ++l) sum[l] += taps[k] * in[j + k * step + l];
    }
    for (int64_t l = 0; l < run; ++l) out[j + l] = sum[l];
    j += run;
  }
}

void spread_values(const double* values, const int32_t* places, int64_t count, const double* table,
                   int64_t reach, double* out, int64_t length) {
  int64_t first = 0;
  for (int64_t j = 0; j < length; j += kRun) {
    const int64_t run = length - j < kRun ? length - j : kRun;
    while (first < count && places[first] + reach <= j) ++first;
    double sum[kRun] = {};  // the table is long enough for a whole run
    for (int64_t m = first; m < count && places[m] < j + run + reach; ++m) {
      const double value = values[m];
      const double* from = table + j - places[m];
      for (int64_t l = 0; l < kRun; ++l) sum[l] += value * from[l];
    }
    for (int64_t l = 0; l < run; ++l) out[j + l] = sum[l];
  }
}

double subtract_context(const double* object, const double* everything, double a, double b,
                        double* out, int64_t length) {
  double largest[kRun] = {};
  for (int64_t j = 0; j < length; j += kRun) {
    const int64_t run = length - j < kRun ? length - j : kRun;
    const auto add = [&](int64_t l) {
      const double own = a * object[j + l], context = b * (everything[j + l] - object[j + l]);
      out[j + l] = own - context;
      const double larger = own > context ? own : context;
      largest[l] = larger > largest[l] ? larger : largest[l];
    };
    if (run == kRun) {
      for (int64_t l = 0; l < kRun; ++l) add(l);
    } else {
      for (int64_t l = 0; l < run; ++l) add(l);
    }
  }
  double most = 0;
  for (const double value : largest) most = value > most ? value : most;
  return most;
}

double sum_whole(const double* values, int64_t length) {
  double sums[kRun] = {};
  int64_t j = 0;
  for (; j + kRun <= length; j += kRun)
    for (int64_t l = 0; l < kRun; ++l) sums[l] += values[j + l];
  for (; j < length; ++j) sums[0] += values[j];
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

void widen_range(const double* values, int64_t length, int64_t step, double* least, double* most) {
  constexpr int64_t kLanes = 16;
  double low[kLanes], high[kLanes];
  for (int64_t l = 0; l < kLanes; ++l) low[l] = *least, high[l] = *most;
  int64_t i = 0;
  for (; i + kLanes <= length; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) {
      const double value = values[(i + l) * step];
      low[l] = value < low[l] ? value : low[l];
      high[l] = value > high[l] ? value : high[l];
    }
  for (; i < length; ++i) {
    const double value = values[i * step];
    low[0] = value < low[0] ? value : low[0];
    high[0] = value > high[0] ? value : high[0];
  }
  for (int64_t l = 0; l < kLanes; ++l) {
    *least = low[l] < *least ? low[l] : *least;
    *most = high[l] > *most ? high[l] : *most;
  }
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
                    const double* factors, int64_t count, int64_t first, double* slopes,
                    int32_t* next) {
  constexpr int64_t kCells = 16;
  for (int64_t k = 0; k < length;) {
    if (k + kCells > length && length >= kCells) k = length - kCells;  // may overlap
    const int64_t run = length < kCells ? length : kCells;
    double steepest[kCells] = {};
    int64_t step_of[kCells] = {};
    for (int64_t o = 0; o < count; ++o) {
      const double* own = row + k;
      const double* other = own + offsets[o];
      const auto try_step = [&](int64_t l) {
        const double slope = (other[l] - own[l]) * factors[o];
        const bool is_steeper = slope > steepest[l];
        steepest[l] = is_steeper ? slope : steepest[l];
        step_of[l] = is_steeper ? steps[o] : step_of[l];
      };
      if (run == kCells) {
        for (int64_t l = 0; l < kCells; ++l) try_step(l);
      } else {
        for (int64_t l = 0; l < run; ++l) try_step(l);
      }
    }
    for (int64_t l = 0; l < run; ++l) {
      slopes[k + l] = steepest[l];
      next[k + l] = static_cast<int32_t>(first + k + l + step_of[l]);
    }
    k += run;
  }
}

bool look_up(const int32_t* __restrict table, const int32_t* __restrict index, int64_t length,
             int32_t* __restrict out) {
  int32_t differs = 0;
  for (int64_t i = 0; i < length; ++i) {
    out[i] = table[index[i]];
    differs |= out[i] ^ index[i];
  }
  return differs != 0;
}

int64_t find_differences(const int32_t* a, const int32_t* b, int64_t length, int32_t* places) {
  constexpr int64_t kCells = 32;
  int64_t found = 0;
  for (int64_t k = 0; k < length; k += kCells) {
    const int64_t end = length - k < kCells ? length : k + kCells;
    int32_t differs = 0;
    if (end == k + kCells)
      for (int64_t l = 0; l < kCells; ++l) differs |= a[k + l] ^ b[k + l];
    else
      differs = 1;
    if (differs == 0) continue;
    for (int64_t l = k; l < end; ++l) {
      places[found] = static_cast<int32_t>(l);
      found += a[l] != b[l];
    }
  }
  return found;
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

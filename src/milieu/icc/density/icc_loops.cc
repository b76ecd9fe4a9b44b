// SPDX-License-Identifier: Apache-2.0
// An ISA source (cmake/MilieuModule.cmake).
#include "milieu/icc/density/icc_loops.h"

#include "milieu/linalg/simd_bits.h"

namespace milieu::internal::MILIEU_ISA {
namespace {

constexpr int64_t kRun = kSpreadRun;  // sums that stay in registers
// Look-ups of many places at once: below AVX-512 they are slower than one after the other.
constexpr bool kHasLookUps = kFloatWidth == 16;

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

// next[i] <- next[next[i]]; not 0 when that changes it.
inline int32_t shorten(int32_t* next, int64_t i) {
  const int32_t before = next[i];
  next[i] = next[before];
  return next[i] ^ before;
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

void widen_range(const double* values, int64_t rows, int64_t p, double* least, double* most) {
  constexpr int64_t kLanes = 48;  // a multiple of 1, 2 and 3: a lane stays in its column
  int64_t i = 0;
  if (p <= 3) {
    double low[kLanes], high[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) low[l] = least[l % p], high[l] = most[l % p];
    for (; (i + kLanes / p) <= rows; i += kLanes / p)
      for (int64_t l = 0; l < kLanes; ++l) {
        const double value = values[i * p + l];
        low[l] = value < low[l] ? value : low[l];
        high[l] = value > high[l] ? value : high[l];
      }
    for (int64_t l = 0; l < kLanes; ++l) {
      least[l % p] = low[l] < least[l % p] ? low[l] : least[l % p];
      most[l % p] = high[l] > most[l % p] ? high[l] : most[l % p];
    }
  }
  for (; i < rows; ++i)
    for (int64_t a = 0; a < p; ++a) {
      const double value = values[i * p + a];
      least[a] = value < least[a] ? value : least[a];
      most[a] = value > most[a] ? value : most[a];
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

bool steepest_steps(const double* row, int64_t length, const int64_t* offsets, const int64_t* steps,
                    const double* factors, int64_t count, int64_t first, double* slopes,
                    int32_t* next) {
  constexpr int64_t kCells = 8;
  Long8 flat = {};
  int64_t k = 0;
  for (; k < length && length >= kCells; k += kCells) {
    if (k + kCells > length) k = length - kCells;  // the last ones may overlap
    const Double8 own = load<Double8>(row + k);
    Double8 best = {};
    Long8 step = {};
    for (int64_t o = 0; o < count; ++o) {
      const Double8 slope = (load<Double8>(row + k + offsets[o]) - own) * factors[o];
      const Long8 is_steeper = slope > best;
      best = is_steeper ? slope : best;
      step = is_steeper ? steps[o] - Long8{} : step;
    }
    flat |= best == 0;
    store(best, slopes + k);
    int64_t steps_of[kCells];
    store(step, steps_of);
    for (int64_t l = 0; l < kCells; ++l)
      next[k + l] = static_cast<int32_t>(first + k + l + steps_of[l]);
  }
  bool has_flat = false;
  for (int64_t l = 0; l < kCells; ++l) has_flat |= flat[l] != 0;
  for (; k < length; ++k) {
    double best = 0;
    int64_t step = 0;
    for (int64_t o = 0; o < count; ++o) {
      const double slope = (row[k + offsets[o]] - row[k]) * factors[o];
      step = slope > best ? steps[o] : step;
      best = slope > best ? slope : best;
    }
    slopes[k] = best;
    next[k] = static_cast<int32_t>(first + k + step);
    has_flat |= best == 0;
  }
  return has_flat;
}

bool look_up(const int32_t* table, const int32_t* index, int64_t length, int32_t* out) {
  int32_t differs = 0;
  int64_t i = 0;
  if constexpr (kHasLookUps) {
    uint32_t moved = 0;
    for (; i + 16 <= length; i += 16) {
      const Int16 from = load<Int16>(index + i), to = look_up_lanes(table, from);
      moved |= bits_differ(from, to);
      store(to, out + i);
    }
    differs = static_cast<int32_t>(moved);
  }
  for (; i < length; ++i) {
    out[i] = table[index[i]];
    differs |= out[i] ^ index[i];
  }
  return differs != 0;
}

bool follow_pointers(int32_t* next, int64_t length, bool is_backward) {
  constexpr int64_t kCells = 16;
  int32_t differs = 0;
  const int64_t runs = length / kCells;
  if (!is_backward)
    for (int64_t i = runs * kCells; i < length; ++i) differs |= shorten(next, i);
  for (int64_t r = 0; r < runs; ++r) {
    const int64_t first = (is_backward ? runs - 1 - r : r) * kCells;
    if constexpr (kHasLookUps) {
      const Int16 from = load<Int16>(next + first), to = look_up_lanes(next, from);
      differs |= static_cast<int32_t>(bits_differ(from, to));
      store(to, next + first);
    } else {
      for (int64_t i = first; i < first + kCells; ++i) differs |= shorten(next, i);
    }
  }
  if (is_backward)
    for (int64_t i = runs * kCells; i < length; ++i) differs |= shorten(next, i);
  return differs != 0;
}

int64_t find_differences(const int32_t* a, const int32_t* b, int64_t length, int32_t* places) {
  int64_t found = 0, k = 0;
  if constexpr (kHasLookUps)
    for (; k + 16 <= length; k += 16)
      for (uint32_t bits = bits_differ(load<Int16>(a + k), load<Int16>(b + k)); bits != 0;
           bits &= bits - 1)
        places[found++] = static_cast<int32_t>(k + __builtin_ctz(bits));
  for (; k < length; ++k) {
    places[found] = static_cast<int32_t>(k);
    found += a[k] != b[k];
  }
  return found;
}

void add_moments(const float* points, int64_t rows, int64_t stride, int64_t d, const double* pivot,
                 double* sums, double* products) {
  if (d == 2) {
    constexpr int64_t kLanes = 16;  // sums of every sixteenth row
    double x[kLanes] = {}, y[kLanes] = {}, xx[kLanes] = {}, xy[kLanes] = {}, yy[kLanes] = {};
    const auto add = [&](int64_t i, int64_t l) {
      const double u = points[i * stride] - pivot[0], v = points[i * stride + 1] - pivot[1];
      x[l] += u;
      y[l] += v;
      xx[l] += u * u;
      xy[l] += u * v;
      yy[l] += v * v;
    };
    int64_t i = 0;
    for (; i + kLanes <= rows; i += kLanes)
      for (int64_t l = 0; l < kLanes; ++l) add(i + l, l);
    for (; i < rows; ++i) add(i, 0);
    for (int64_t l = 0; l < kLanes; ++l) {
      sums[0] += x[l];
      sums[1] += y[l];
      products[0] += xx[l];
      products[2] += xy[l];
      products[3] += yy[l];
    }
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

}  // namespace milieu::internal::MILIEU_ISA

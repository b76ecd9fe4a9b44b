// SPDX-License-Identifier: Apache-2.0
// An ISA source: compiled once for each instruction set (cmake/MilieuModule.cmake).
#include "milieu/dcp/solve/dcp_loops.h"

#include <cmath>

#include "milieu/linalg/simd.h"

namespace milieu::internal::MILIEU_ISA {

namespace {

constexpr int64_t kChunk = 64;
constexpr int kLanes = 16;

// phi and phi' of `count` <= kChunk violations; slopes are times `cost` and the weight. Returns the
// weighted sum of phi.
double charge(float* v, int64_t count, const float* weights, int loss, float width, float cost) {
  float value[kChunk];
  const float a = 1 / (4 * width), b = 1 / (2 * width);
  if (loss == 0) {
    for (int64_t i = 0; i < count; ++i) {
      value[i] = v[i] > 0 ? v[i] : 0;
      v[i] = v[i] >= 0 ? cost : 0;
    }
  } else if (loss == 1) {
    for (int64_t i = 0; i < count; ++i) {
      const float x = v[i] > 0 ? v[i] : 0;
      value[i] = x * x;
      v[i] = 2 * cost * x;
    }
  } else if (loss == 3) {
    for (int64_t i = 0; i < count; ++i) {
      const float x = v[i] - 1, e = std::exp(-std::fabs(x));
      value[i] = (x > 0 ? x : 0) + std::log1p(e);
      v[i] = cost * (x > 0 ? 1 : e) / (1 + e);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      const float up = v[i] + width;
      const float low = up > 0 ? up : 0;
      const bool is_high = v[i] >= width;
      value[i] = is_high ? v[i] : low * low * a;
      v[i] = is_high ? cost : cost * low * b;
    }
  }
  if (weights != nullptr) {
    for (int64_t i = 0; i < count; ++i) {
      value[i] *= weights[i];
      v[i] *= weights[i];
    }
  }
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int j = 0; j < kLanes; ++j) lanes[j] += value[i + j];
  for (; i < count; ++i) lanes[i % kLanes] += value[i];
  double sum = 0;
  for (int j = 0; j < kLanes; ++j) sum += lanes[j];
  return sum;
}

constexpr int64_t kPanel = 64;     // rows whose squares are added together
constexpr int64_t kTileRows = 4;   // of the matrix of squares, kept in registers
constexpr int64_t kTileCols = 16;  // ... in two vectors

inline void add_wide(const Double8& values, double* to) { store(load<Double8>(to) + values, to); }

// h(a.., b..) += sum_i weights_i x_i(a..) x_i(b..), one tile.
void add_tile(const double* rows, int64_t count, int64_t d, const double* weights, int64_t a,
              int64_t b, double* h) {
  Double8 sums[kTileRows][2] = {};
  for (int64_t i = 0; i < count; ++i) {
    const double* x = rows + i * d;
    const Double8 first = load<Double8>(x + b), second = load<Double8>(x + b + 8);
    for (int64_t r = 0; r < kTileRows; ++r) {
      const double s = weights[i] * x[a + r];
      sums[r][0] += s * first;
      sums[r][1] += s * second;
    }
  }
  for (int64_t r = 0; r < kTileRows; ++r) {
    add_wide(sums[r][0], h + (a + r) * d + b);
    add_wide(sums[r][1], h + (a + r) * d + b + 8);
  }
}

// The same entry by entry: rows [a, a_end) of h, columns from b to the diagonal.
void add_entries(const double* rows, int64_t count, int64_t d, const double* weights, int64_t a,
                 int64_t a_end, int64_t b, double* h) {
  for (int64_t i = 0; i < count; ++i) {
    const double* x = rows + i * d;
    for (int64_t r = a; r < a_end; ++r) {
      const double s = weights[i] * x[r];
      for (int64_t c = b; c <= r; ++c) h[r * d + c] += s * x[c];
    }
  }
}

}  // namespace

double hard_max_block(float* f, int64_t stride, int num_parts, int64_t count, const float* weights,
                      int loss, float width, float cost) {
  double sum = 0;
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    const int64_t size = count - begin < kChunk ? count - begin : kChunk;
    float best[kChunk];
    int part[kChunk];
    for (int64_t i = 0; i < size; ++i) {
      best[i] = f[begin + i];
      part[i] = 0;
    }
    for (int k = 1; k < num_parts; ++k) {
      const float* row = f + k * stride + begin;
      for (int64_t i = 0; i < size; ++i) {
        const bool is_better = row[i] > best[i];
        part[i] = is_better ? k : part[i];
        best[i] = is_better ? row[i] : best[i];
      }
    }
    for (int64_t i = 0; i < size; ++i) best[i] = 1 - best[i];
    sum += charge(best, size, weights == nullptr ? nullptr : weights + begin, loss, width, cost);
    for (int k = 0; k < num_parts; ++k) {
      float* row = f + k * stride + begin;
      for (int64_t i = 0; i < size; ++i) row[i] = part[i] == k ? -best[i] : 0;
    }
  }
  return sum;
}

double context_block(float* f, int64_t stride, int num_parts, int64_t count, const float* weights,
                     int loss, float width, float cost) {
  double sum = 0;
  for (int k = 0; k < num_parts; ++k)
    for (int64_t begin = 0; begin < count; begin += kChunk) {
      const int64_t size = count - begin < kChunk ? count - begin : kChunk;
      float* row = f + k * stride + begin;
      for (int64_t i = 0; i < size; ++i) row[i] += 1;
      sum += charge(row, size, weights == nullptr ? nullptr : weights + begin, loss, width, cost);
    }
  return sum;
}

double given_part_block(float* f, int64_t stride, int num_parts, int64_t count,
                        const float* weights, const int* labels, int loss, float width,
                        float cost) {
  double sum = 0;
  for (int64_t begin = 0; begin < count; begin += kChunk) {
    const int64_t size = count - begin < kChunk ? count - begin : kChunk;
    float v[kChunk];
    for (int64_t i = 0; i < size; ++i) v[i] = 1 - f[labels[begin + i] * stride + begin + i];
    sum += charge(v, size, weights == nullptr ? nullptr : weights + begin, loss, width, cost);
    for (int k = 0; k < num_parts; ++k) {
      float* row = f + k * stride + begin;
      for (int64_t i = 0; i < size; ++i) row[i] = labels[begin + i] == k ? -v[i] : 0;
    }
  }
  return sum;
}

void argmax_block(const float* f, int64_t stride, int num_parts, int64_t count, int* labels) {
  for (int64_t i = 0; i < count; ++i) {
    int best = 0;
    for (int k = 1; k < num_parts; ++k)
      if (f[k * stride + i] > f[best * stride + i]) best = k;
    labels[i] = best;
  }
}

void add_weighted_outer(const double* rows, int64_t count, int64_t d, const double* weights,
                        double* h) {
  for (int64_t begin = 0; begin < count; begin += kPanel) {
    const int64_t size = count - begin < kPanel ? count - begin : kPanel;
    const double* panel = rows + begin * d;
    int64_t a = 0;
    for (; a + kTileRows <= d; a += kTileRows) {
      int64_t b = 0;
      for (; b < a + kTileRows && b + kTileCols <= d; b += kTileCols)
        add_tile(panel, size, d, weights + begin, a, b, h);
      add_entries(panel, size, d, weights + begin, a, a + kTileRows, b, h);
    }
    add_entries(panel, size, d, weights + begin, a, d, 0, h);
  }
}

void add_scaled_rows(const double* rows, int64_t count, int64_t d, const double* weights,
                     double* out) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const double* x = rows + i * d;
    const double s0 = weights[i], s1 = weights[i + 1], s2 = weights[i + 2], s3 = weights[i + 3];
    for (int64_t b = 0; b < d; ++b)
      out[b] += (s0 * x[b] + s1 * x[d + b]) + (s2 * x[2 * d + b] + s3 * x[3 * d + b]);
  }
  for (; i < count; ++i)
    for (int64_t b = 0; b < d; ++b) out[b] += weights[i] * rows[i * d + b];
}

void row_products(const double* rows, int64_t count, int64_t d, const double* v, double* out) {
  for (int64_t i = 0; i < count; ++i) {
    const double* x = rows + i * d;
    double lanes[8] = {};
    int64_t b = 0;
    for (; b + 8 <= d; b += 8)
      for (int j = 0; j < 8; ++j) lanes[j] += x[b + j] * v[b + j];
    for (; b < d; ++b) lanes[b % 8] += x[b] * v[b];
    out[i] = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
             ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
}

}  // namespace milieu::internal::MILIEU_ISA

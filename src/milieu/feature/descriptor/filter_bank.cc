// SPDX-License-Identifier: Apache-2.0
// Responses are needed at every step-th pixel only, and filters are neither small nor separable:
// the neighbourhoods of one grid row, written out as rows of a matrix, times the filters, is one
// product for `linalg/gemm`.
#include "milieu/feature/descriptor/filter_bank.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "milieu/feature/descriptor/filter_bank_internal.h"
#include "milieu/feature/descriptor/sift_grid_internal.h"
#include "milieu/linalg/gemm.h"

namespace milieu {
namespace {

using internal::FilterGroup;
using internal::GridAxis;

constexpr int kDirections = 6;
constexpr int64_t kPixelsAtOnce = 64;

// Index i of a row of n pixels that continues as its mirror image: ... 2 1 0 1 2 ... n-1 n-2 ...
int64_t mirrored(int64_t i, int64_t n) {
  if (n == 1) return 0;
  const int64_t period = 2 * (n - 1);
  i = ((i % period) + period) % period;
  return i < n ? i : period - i;
}

// Mean 0, standard deviation 1; all 0 if constant.
void standardise(Matrix<float>& gray) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < gray.size(); ++i) sum += gray.data()[i];
  const double mean = sum / static_cast<double>(gray.size());
  for (int64_t i = 0; i < gray.size(); ++i) {
    const double difference = gray.data()[i] - mean;
    squares += difference * difference;
  }
  const double deviation = std::sqrt(squares / static_cast<double>(gray.size()));
  for (int64_t i = 0; i < gray.size(); ++i)
    gray.data()[i] = deviation > 0 ? static_cast<float>((gray.data()[i] - mean) / deviation) : 0.0f;
}

Matrix<float> with_margin(const Matrix<float>& gray, int64_t margin) {
  Matrix<float> out(gray.rows() + 2 * margin, gray.cols() + 2 * margin);
  for (int64_t y = 0; y < out.rows(); ++y)
    for (int64_t x = 0; x < out.cols(); ++x)
      out(y, x) = gray(mirrored(y - margin, gray.rows()), mirrored(x - margin, gray.cols()));
  return out;
}

// The grey values around pixels (first + j step, y), j in [begin, end), one row of `patches` each.
// `image` has a margin.
void copy_patches(const Matrix<float>& image, int64_t margin, int64_t radius, int64_t y,
                  int64_t first, int64_t step, MatrixView<float> patches) {
  const int64_t side = 2 * radius + 1;
  for (int64_t j = 0; j < patches.rows(); ++j)
    for (int64_t t = 0; t < side; ++t)
      std::copy_n(image.row(y + margin - radius + t) + first + j * step + margin - radius, side,
                  patches.row(j) + t * side);
}

// responses(j, ...) of pixels (first + j step, y), group after group; a few at a time, because the
// patches are much larger than the image.
void respond_row(const Matrix<float>& image, int64_t margin, const std::vector<FilterGroup>& bank,
                 int64_t y, int64_t first, int64_t step, Matrix<float>& buffer,
                 MatrixView<float> responses) {
  for (int64_t begin = 0; begin < responses.rows(); begin += buffer.rows()) {
    const int64_t count = std::min(buffer.rows(), responses.rows() - begin);
    int64_t done = 0;
    for (const FilterGroup& group : bank) {
      const MatrixView<float> patches(buffer.data(), count, group.filters.cols());
      copy_patches(image, margin, group.radius, y, first + begin * step, step, patches);
      gemm_nt(1, patches, group.filters, 0,
              MatrixView<float>(responses.row(begin) + done, count, group.filters.rows(),
                                responses.stride()));
      done += group.filters.rows();
    }
  }
}

// [Varma05, section 2.3]
void scale_by_weber(std::span<float> responses) {
  double squares = 0;
  for (const float r : responses) squares += static_cast<double>(r) * r;
  const double norm = std::sqrt(squares);
  if (norm == 0) return;
  const float factor = static_cast<float>(std::log1p(norm / 0.03) / norm);
  for (float& r : responses) r *= factor;
}

// 38 raw responses to the 8 of the paper.
void keep_largest(std::span<const float> raw, std::span<float> out) {
  for (int s = 0; s < 3; ++s) {
    const float* edges = raw.data() + s * 2 * kDirections;
    const float* bars = edges + kDirections;
    float edge = 0;
    for (int d = 0; d < kDirections; ++d) edge = std::max(edge, std::abs(edges[d]));
    out[2 * s] = edge;
    out[2 * s + 1] = *std::max_element(bars, bars + kDirections);
  }
  out[6] = raw[6 * kDirections];
  out[7] = raw[6 * kDirections + 1];
}

int64_t num_filters(const std::vector<FilterGroup>& bank) {
  int64_t count = 0;
  for (const FilterGroup& group : bank) count += group.filters.rows();
  return count;
}

// finish(raw, out) makes the `dimension` responses of a pixel from those of all filters.
template <class Finish>
LocalDescriptors respond(const Image& image, const FilterBankOptions& options,
                         const std::vector<FilterGroup>& bank, int dimension, Finish&& finish) {
  validate_options(options);
  LocalDescriptors out;
  Matrix<float> gray = image.gray();
  const GridAxis rows = internal::grid_axis(gray.rows(), 1, options.step);
  const GridAxis columns = internal::grid_axis(gray.cols(), 1, options.step);
  int64_t margin = 0;
  for (const FilterGroup& group : bank) margin = std::max<int64_t>(margin, group.radius);
  standardise(gray);
  const Matrix<float> padded = with_margin(gray, margin);
  out.grid_rows = static_cast<int>(rows.count);
  out.grid_cols = static_cast<int>(columns.count);
  out.descriptors = Matrix<float>(rows.count * columns.count, dimension);
  out.frames = Matrix<float>(rows.count * columns.count, 4);
  Matrix<float> raw(columns.count, num_filters(bank));
  Matrix<float> buffer(kPixelsAtOnce, (2 * margin + 1) * (2 * margin + 1));
  for (int64_t i = 0; i < rows.count; ++i) {
    const int64_t y = rows.first + i * options.step;
    respond_row(padded, margin, bank, y, columns.first, options.step, buffer, raw);
    for (int64_t j = 0; j < columns.count; ++j) {
      const int64_t row = i * columns.count + j;
      finish(std::as_const(raw).row_span(j), out.descriptors.row_span(row));
      scale_by_weber(out.descriptors.row_span(row));
      const float frame[] = {static_cast<float>(columns.first + j * options.step),
                             static_cast<float>(y), 1, 0};
      std::copy_n(frame, 4, out.frames.row(row));
    }
  }
  return out;
}

}  // namespace

LocalDescriptors texton_responses(const Image& image, const FilterBankOptions& options) {
  const auto& bank = internal::leung_malik_bank();
  return respond(image, options, bank, static_cast<int>(num_filters(bank)),
                 [](std::span<const float> raw, std::span<float> out) {
                   std::copy(raw.begin(), raw.end(), out.begin());
                 });
}

LocalDescriptors mr8_responses(const Image& image, const FilterBankOptions& options) {
  return respond(image, options, internal::maximum_response_bank(), 8, keep_largest);
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/descriptor/lbp.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>

#include "milieu/base/error.h"

namespace milieu {
namespace {

constexpr int kMaxNeighbors = 30;  // patterns are bits of one word

struct Circle {
  int num_neighbors = 0;
  double radius = 0;

  int num_bins() const { return num_neighbors * (num_neighbors - 1) + 3; }
  int margin() const { return static_cast<int>(std::ceil(radius)); }
};

std::vector<Circle> circles_of(const LbpOptions& options) {
  validate_options(options);
  require(options.num_neighbors * options.num_circles <= kMaxNeighbors, [&] {
    return fmt::format("num_neighbors * num_circles is {}, must be at most {}",
                       options.num_neighbors * options.num_circles, kMaxNeighbors);
  });
  std::vector<Circle> circles;
  for (int c = 1; c <= options.num_circles; ++c)
    circles.push_back({c * options.num_neighbors, c * options.radius});
  return circles;
}

// Where a neighbour lies: between pixel (x, y) and the next ones to the right and below.
struct Offset {
  int x = 0, y = 0;
  float right = 0, below = 0;  // multiples of 1/64 below 1: products with bytes are exact
};

Offset offset_of(const Circle& circle, int p) {
  const double angle = 2 * std::numbers::pi * p / circle.num_neighbors;
  const double dx = std::round(64 * circle.radius * std::cos(angle)) / 64;
  const double dy = std::round(-64 * circle.radius * std::sin(angle)) / 64;
  Offset offset;
  offset.x = static_cast<int>(std::floor(dx));
  offset.y = static_cast<int>(std::floor(dy));
  offset.right = static_cast<float>(dx - offset.x);
  offset.below = static_cast<float>(dy - offset.y);
  return offset;
}

// Sets bit p of codes[0..count) where the neighbour is at least as bright as the pixel at
// row y, columns margin, margin + 1, ...
void compare_row(const Matrix<float>& gray, int y, int margin, const Offset& offset, uint32_t bit,
                 std::vector<uint32_t>& codes) {
  const float* center = gray.row(y) + margin;
  const float* top = gray.row(y + offset.y) + margin + offset.x;
  // The pixel to the right or below is read only where it counts: it may be outside.
  const float* bottom = offset.below > 0 ? gray.row(y + offset.y + 1) + margin + offset.x : top;
  const int next = offset.right > 0 ? 1 : 0;
  const size_t count = codes.size();
  for (size_t x = 0; x < count; ++x) {
    const float upper = top[x] + offset.right * (top[x + next] - top[x]);
    const float lower = bottom[x] + offset.right * (bottom[x + next] - bottom[x]);
    const float value = upper + offset.below * (lower - upper);
    codes[x] |= value >= center[x] ? bit : 0u;
  }
}

// The bin of a pattern of P bits, as documented for lbp().
int bin_of(uint32_t code, int num_neighbors) {
  const uint32_t mask = (1u << num_neighbors) - 1;
  const uint32_t turned = ((code << 1) | (code >> (num_neighbors - 1))) & mask;
  if (std::popcount(code ^ turned) > 2) return num_neighbors * (num_neighbors - 1) + 2;
  const int ones = std::popcount(code);
  if (ones == 0) return 0;
  if (ones == num_neighbors) return num_neighbors * (num_neighbors - 1) + 1;
  return 1 + (ones - 1) * num_neighbors + std::countr_zero(code & ~turned);
}

std::vector<double> histogram(const Matrix<float>& gray, const Circle& circle) {
  const int margin = circle.margin();
  const int rows = static_cast<int>(gray.rows()) - 2 * margin;
  const int cols = static_cast<int>(gray.cols()) - 2 * margin;
  std::vector<double> bins(circle.num_bins());
  if (rows <= 0 || cols <= 0) return bins;
  std::vector<int64_t> counts(bins.size());
  std::vector<uint32_t> codes(cols);
  std::vector<Offset> offsets;
  for (int p = 0; p < circle.num_neighbors; ++p) offsets.push_back(offset_of(circle, p));
  for (int y = margin; y < margin + rows; ++y) {
    std::fill(codes.begin(), codes.end(), 0u);
    for (int p = 0; p < circle.num_neighbors; ++p)
      compare_row(gray, y, margin, offsets[p], 1u << p, codes);
    for (const uint32_t code : codes) ++counts[bin_of(code, circle.num_neighbors)];
  }
  for (size_t b = 0; b < bins.size(); ++b)
    bins[b] = static_cast<double>(counts[b]) / (static_cast<double>(rows) * cols);
  return bins;
}

// [Ahonen09, section 3]: coefficient u of the places r of patterns with n ones.
double fourier_length(const std::vector<double>& bins, int num_neighbors, int n, int u) {
  std::complex<double> sum = 0;
  for (int r = 0; r < num_neighbors; ++r)
    sum += bins[1 + (n - 1) * num_neighbors + r] *
           std::polar(1.0, -2 * std::numbers::pi * (u * r % num_neighbors) / num_neighbors);
  return std::abs(sum);
}

}  // namespace

std::vector<float> lbp(const Image& image, const LbpOptions& options) {
  const Matrix<float> gray = image.gray();
  std::vector<float> out;
  for (const Circle& circle : circles_of(options))
    for (const double share : histogram(gray, circle)) out.push_back(static_cast<float>(share));
  return out;
}

std::vector<float> rot_lbp(const Image& image, const LbpOptions& options) {
  const Matrix<float> gray = image.gray();
  std::vector<float> out;
  for (const Circle& circle : circles_of(options)) {
    const std::vector<double> bins = histogram(gray, circle);
    const int P = circle.num_neighbors;
    for (int n = 1; n < P; ++n)
      for (int u = 0; u <= P / 2; ++u)
        out.push_back(static_cast<float>(fourier_length(bins, P, n, u)));
    for (const int bin : {0, P * (P - 1) + 1, P * (P - 1) + 2})
      out.push_back(static_cast<float>(bins[bin]));
  }
  return out;
}

}  // namespace milieu

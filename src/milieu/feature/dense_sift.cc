// SPDX-License-Identifier: Apache-2.0
// Dense SIFT in one pass over the rows of a picture.
//
// Bins are separable: a bin is a weighted sum of rows of weighted sums along rows. Each row of
// votes is added to the few bin rows that need it; a bin row that has got its last row is summed
// along x. Patches that lie a bin apart share bins, so the cost hardly depends on the step, up to
// the scaling of each descriptor. Working memory: the smoothed picture, the bins, a few rows.
#include "milieu/feature/dense_sift.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/feature/blur_internal.h"
#include "milieu/feature/sift_grid_internal.h"

namespace milieu {
namespace internal {
namespace {

// The bin rows that are being summed: [open, started) of the rows' bins, in a ring of buffers.
class BinRows {
 public:
  BinRows(const SiftAxis& rows, const SiftAxis& columns, int64_t stride)
      : rows_(rows),
        columns_(columns.table()),
        stride_(stride),
        size_(stride * kSiftDirections),
        num_slots_(rows.max_overlap()),
        sums_(make_buffer(num_slots_ * size_)),
        scratch_(make_buffer(size_)),
        bins_(make_buffer(rows.num_bins() * bin_row_size())) {}

  bool need(int64_t y) const {
    return open_ < started_ || (started_ < rows_.num_bins() && rows_.firsts[started_] <= y);
  }
  // The votes of pixel row y; rows come in order, those that are not needed may be left out.
  void add(int64_t y, const float* votes) {
    const auto add_row = MILIEU_SELECT_ISA(add_scaled);
    for (; started_ < rows_.num_bins() && rows_.firsts[started_] <= y; ++started_)
      std::memset(sum(started_), 0, sizeof(float) * size_);
    for (int64_t r = open_; r < started_; ++r)
      add_row(sum(r), votes, rows_.weights[r * rows_.max_count + y - rows_.firsts[r]], size_);
    for (; open_ < started_ && rows_.firsts[open_] + rows_.counts[open_] <= y + 1; ++open_)
      MILIEU_SELECT_ISA(sift_bins)
    (sum(open_), stride_, columns_, scratch_.get(), &bins_[open_ * bin_row_size()]);
  }
  const float* bin(int64_t row, int64_t column) const {
    return &bins_[row * bin_row_size() + column * kSiftDirections];
  }

 private:
  float* sum(int64_t r) { return &sums_[r % num_slots_ * size_]; }
  int64_t bin_row_size() const { return columns_.num_bins * kSiftDirections; }

  const SiftAxis& rows_;
  SiftBinTable columns_;
  int64_t stride_;
  int64_t size_;
  int64_t num_slots_;
  Buffer sums_;     // votes of the open bin rows, summed so far
  Buffer scratch_;  // for one of them, turned round
  Buffer bins_;     // bin rows x bin columns x directions
  int64_t open_ = 0;
  int64_t started_ = 0;
};

// One patch size.
struct SiftScale {
  int patch_size = 0;
  double smoothing = 0;
  GridAxis rows, columns;

  int64_t count() const { return rows.count * columns.count; }
};

SiftScale sift_scale_of(FloatView gray, const DenseSiftOptions& options, int index) {
  SiftScale scale;
  const double ratio = std::pow(options.scale_step, index);
  scale.patch_size = static_cast<int>(4 * std::lround(options.patch_size * ratio / 4));
  scale.smoothing = options.smoothing * scale.patch_size / options.patch_size;
  scale.rows = grid_axis(gray.rows(), scale.patch_size, options.step);
  scale.columns = grid_axis(gray.cols(), scale.patch_size, options.step);
  if (scale.count() == 0) scale.rows = scale.columns = {};
  return scale;
}

// Steps 1 to 6 of dense_sift.h; writes scale.count() descriptors.
void describe_scale(FloatView gray, const DenseSiftOptions& options, const SiftScale& scale,
                    float* descriptors) {
  if (scale.count() == 0) return;
  const SiftAxis rows =
      sift_axis(gray.rows(), scale.rows, options.step, scale.patch_size, options.window);
  const SiftAxis columns =
      sift_axis(gray.cols(), scale.columns, options.step, scale.patch_size, options.window);
  const PaddedImage image(gray, scale.smoothing);
  const int64_t stride = image.padded_width();
  const Buffer votes = make_buffer(stride * kSiftDirections);
  BinRows bins(rows, columns, stride);
  for (int64_t y = 0; y < image.height(); ++y) {
    if (!bins.need(y)) continue;
    MILIEU_SELECT_ISA(sift_votes)
    (image.row(y - 1), image.row(y), image.row(y + 1), stride, votes.get());
    bins.add(y, votes.get());
  }
  const double area = 0.0625 * scale.patch_size / 4.0 * scale.patch_size / 4.0;  // (b/4)^2
  // Twice, because votes are twice the gradient; 255, because white is 255.
  const SiftScaling scaling{static_cast<float>(2 * 255 * options.contrast_floor * area),
                            static_cast<float>(options.clip), options.root};
  const auto finish = MILIEU_SELECT_ISA(sift_scale);
  for (int64_t i = 0; i < scale.rows.count; ++i)
    for (int64_t j = 0; j < scale.columns.count; ++j, descriptors += kSiftSize) {
      for (int64_t k = 0; k < kSiftBins; ++k)
        std::memcpy(
            descriptors + k * kSiftDirections,
            bins.bin(rows.bin_from_patch[4 * i + k / 4], columns.bin_from_patch[4 * j + k % 4]),
            sizeof(float) * kSiftDirections);
      finish(scaling, descriptors);
    }
}

void place_frames(const SiftScale& scale, int step, float* frames) {
  const float half = static_cast<float>(scale.patch_size / 2);
  for (int64_t i = 0; i < scale.rows.count; ++i)
    for (int64_t j = 0; j < scale.columns.count; ++j, frames += 4) {
      frames[0] = static_cast<float>(scale.columns.first + j * step) + half;
      frames[1] = static_cast<float>(scale.rows.first + i * step) + half;
      frames[2] = static_cast<float>(scale.patch_size);
      frames[3] = 0;
    }
}

}  // namespace
}  // namespace internal

LocalDescriptors dense_sift(FloatView gray, const DenseSiftOptions& options) {
  validate_options(options);
  require(options.patch_size % 4 == 0, [&] {
    return fmt::format("patch_size is {}, must be a multiple of 4: a patch has 4 bins a side",
                       options.patch_size);
  });
  std::vector<internal::SiftScale> scales;
  int64_t count = 0;
  for (int s = 0; s < options.num_scales; ++s) {
    scales.push_back(internal::sift_scale_of(gray, options, s));
    count += scales.back().count();
  }
  LocalDescriptors out;
  out.descriptors = Matrix<float>(count, internal::kSiftSize);
  out.frames = Matrix<float>(count, 4);
  int64_t done = 0;
  for (const internal::SiftScale& scale : scales) {
    if (scale.count() == 0) continue;
    internal::describe_scale(gray, options, scale, out.descriptors.row(done));
    internal::place_frames(scale, options.step, out.frames.row(done));
    done += scale.count();
  }
  if (scales.size() == 1) {
    out.grid_rows = static_cast<int>(scales[0].rows.count);
    out.grid_cols = static_cast<int>(scales[0].columns.count);
  }
  return out;
}

LocalDescriptors dense_sift(const Image& image, const DenseSiftOptions& options) {
  return dense_sift(image.gray(), options);
}

}  // namespace milieu

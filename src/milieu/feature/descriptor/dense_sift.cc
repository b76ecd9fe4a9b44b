// SPDX-License-Identifier: Apache-2.0
// Dense SIFT in one pass over the rows of an image.
//
// Bins are separable: a bin is a weighted sum of rows of weighted sums along rows. Each row of
// votes is added to the few bin rows that need it; a bin row that has got its last row is summed
// along x; a row of patches that has got its last bin row is finished. Patches that lie a bin apart
// share bins, so the cost hardly depends on the step, up to the scaling of each descriptor. Working
// memory: a few rows, which stay in the processor's cache.
#include "milieu/feature/descriptor/dense_sift.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/feature/descriptor/blur_internal.h"
#include "milieu/feature/descriptor/sift_grid_internal.h"

namespace milieu {
namespace internal {
namespace {

// Bin rows: [open, started) are being summed, [0, open) are finished, of which the last ones that a
// row of patches may need are kept.
class BinRows {
 public:
  BinRows(const SiftAxis& rows, const SiftAxis& columns, int64_t stride)
      : rows_(rows),
        columns_(columns.table()),
        stride_(stride),
        size_(stride * kSiftDirections),
        num_sums_(rows.max_overlap()),
        num_kept_(rows.max_span() + num_sums_),  // those finished by one row of pixels come at once
        sums_(make_buffer(num_sums_ * size_)),
        scratch_(make_buffer(size_)),
        bins_(make_buffer(num_kept_ * bin_row_size())) {}

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
    (sum(open_), stride_, columns_, scratch_.get(), bin_row(open_));
  }
  int64_t num_finished() const { return open_; }
  const float* bin(int64_t row, int64_t column) { return bin_row(row) + column * kSiftDirections; }

 private:
  float* sum(int64_t r) { return &sums_[r % num_sums_ * size_]; }
  float* bin_row(int64_t r) { return &bins_[r % num_kept_ * bin_row_size()]; }
  int64_t bin_row_size() const { return columns_.num_bins * kSiftDirections; }

  const SiftAxis& rows_;
  SiftBinTable columns_;
  int64_t stride_;
  int64_t size_;
  int64_t num_sums_;
  int64_t num_kept_;
  Buffer sums_;     // votes of the open bin rows, summed so far
  Buffer scratch_;  // one of them, turned round
  Buffer bins_;     // finished bin rows: bin columns x directions
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

SiftScaling scaling_of(const DenseSiftOptions& options, int patch_size) {
  const double side = patch_size / 4.0;
  // Twice, because votes are twice the gradient; 255, because white is 255.
  const double unit = 2 * 255 * (side / 4) * (side / 4);
  return {static_cast<float>(options.contrast_floor * unit), static_cast<float>(options.clip),
          options.root};
}

// Steps 5 and 6 of dense_sift.h for one row of patches, which have the given bins.
void finish_patches(BinRows& bins, const int* bin_rows, const std::vector<int>& bin_columns,
                    const SiftScaling& scaling, float* descriptors) {
  const auto finish = MILIEU_SELECT_ISA(sift_finish);
  const float* places[kSiftBins];
  for (size_t j = 0; j < bin_columns.size(); j += 4, descriptors += kSiftSize) {
    for (int64_t k = 0; k < kSiftBins; ++k)
      places[k] = bins.bin(bin_rows[k / 4], bin_columns[j + k % 4]);
    finish(places, scaling, descriptors);
  }
}

// Steps 1 to 6 of dense_sift.h; writes scale.count() descriptors.
void describe_scale(FloatView gray, const DenseSiftOptions& options, const SiftScale& scale,
                    float* descriptors) {
  const SiftAxis rows =
      sift_axis(gray.rows(), scale.rows, options.step, scale.patch_size, options.window);
  const SiftAxis columns =
      sift_axis(gray.cols(), scale.columns, options.step, scale.patch_size, options.window);
  const SiftScaling scaling = scaling_of(options, scale.patch_size);
  SmoothRows smooth(gray, scale.smoothing);
  const int64_t stride = smooth.padded_width();
  const Buffer votes = make_buffer(stride * kSiftDirections);
  BinRows bins(rows, columns, stride);
  int64_t done = 0;  // grid rows
  for (int64_t y = 0; done < scale.rows.count; ++y) {
    if (!bins.need(y)) continue;
    const float* below = smooth.row(y + 1);
    MILIEU_SELECT_ISA(sift_votes)
    (smooth.row(y - 1), smooth.row(y), below, stride, votes.get());
    bins.add(y, votes.get());
    for (; done < scale.rows.count && rows.bin_from_patch[4 * done + 3] < bins.num_finished();
         ++done)
      finish_patches(bins, &rows.bin_from_patch[4 * done], columns.bin_from_patch, scaling,
                     descriptors + done * scale.columns.count * kSiftSize);
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
    return fmt::format("patch_size is {}, must be a multiple of 4: a patch has 4 bins per side",
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

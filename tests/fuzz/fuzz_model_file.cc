// SPDX-License-Identifier: Apache-2.0
// Model files: the bytes as they are, and again with the checksum fixed, since no fuzzer
// guesses one. What is read is then asked for labels.
#include <algorithm>
#include <string>

#include "fuzz_target.h"
#include "milieu/run/predictor.h"
#include "milieu/store/model_file.h"

namespace milieu {
namespace {

constexpr int64_t kMaxCols = 256;

int64_t element_size(const std::string& dtype) {
  return dtype == "U8" ? 1 : dtype.ends_with("64") ? 8 : 4;
}

void check_arrays(const ModelFile& file) {
  check_promise(!file.kind.empty() && file.format_version >= 1, "kind and version");
  for (const auto& [name, array] : file.arrays) {
    int64_t bytes = element_size(array.dtype);
    for (int64_t extent : array.shape) {
      check_promise(extent >= 0, "extents");
      check_promise(!__builtin_mul_overflow(bytes, extent, &bytes), "size");
    }
    check_promise(bytes == static_cast<int64_t>(array.bytes.size()), "bytes fit the shape");
  }
}

// Labels of a few points as wide as the model's first matrix, whatever that is.
void check_prediction(const ModelFile& file) {
  const auto matrix = std::find_if(file.arrays.begin(), file.arrays.end(),
                                   [](const auto& a) { return a.second.shape.size() == 2; });
  const int64_t cols = matrix == file.arrays.end() ? 1 : matrix->second.shape[1];
  if (cols < 1 || cols > kMaxCols) return;
  Matrix<float> points(3, cols);
  std::fill_n(points.row(1), cols, 1.0f);
  const std::vector<int> labels = predict_with(file, points, 1, "fuzz.safetensors");
  check_promise(labels.size() == 3, "a label a point");
  for (int label : labels) check_promise(label >= -1, "labels from -1");
}

const RegisterFuzzTarget kRegistered("model_file", [](std::span<const std::byte> input) {
  const std::string repaired = with_right_checksum(input);
  const ModelFile file = parse_model_file(std::as_bytes(std::span(repaired)), "fuzz.safetensors");
  check_arrays(file);
  check_prediction(file);
  check_arrays(parse_model_file(input, "fuzz.safetensors"));
});

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "milieu/base/random.h"
#include "milieu/linalg/gemm.h"
#include "milieu/linalg/pca.h"

namespace milieu {

namespace {

constexpr int64_t kExactSide = 300;  // smaller side of the matrix up to which PCA is exact
constexpr int kWidth = 6;            // columns of the subspace
constexpr int kRounds = 8;

Matrix<float> centered(FloatView points) {
  Matrix<float> out(points);
  std::vector<double> mean(static_cast<size_t>(points.cols()));
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t j = 0; j < points.cols(); ++j) mean[static_cast<size_t>(j)] += points(i, j);
  for (int64_t i = 0; i < points.rows(); ++i)
    for (int64_t j = 0; j < points.cols(); ++j)
      out(i, j) -=
          static_cast<float>(mean[static_cast<size_t>(j)] / static_cast<double>(points.rows()));
  return out;
}

// Gram-Schmidt on the rows; a row that vanishes stays zero.
void orthonormalize(Matrix<float>& q) {
  for (int64_t r = 0; r < q.rows(); ++r) {
    for (int64_t b = 0; b < r; ++b) {
      double dot = 0;
      for (int64_t j = 0; j < q.cols(); ++j) dot += double{q(r, j)} * q(b, j);
      for (int64_t j = 0; j < q.cols(); ++j) q(r, j) -= static_cast<float>(dot * q(b, j));
    }
    double norm = 0;
    for (int64_t j = 0; j < q.cols(); ++j) norm += double{q(r, j)} * q(r, j);
    const double scale = norm > 1e-30 ? 1 / std::sqrt(norm) : 0;
    for (int64_t j = 0; j < q.cols(); ++j) q(r, j) = static_cast<float>(q(r, j) * scale);
  }
}

Matrix<float> transposed(FloatView a) {
  Matrix<float> out(a.cols(), a.rows());
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < a.cols(); ++j) out(j, i) = a(i, j);
  return out;
}

// n x kWidth coordinates in the leading subspace, by simultaneous iteration.
Matrix<float> leading_coordinates(FloatView points) {
  const Matrix<float> x = centered(points);
  Random random(1);
  Matrix<float> q(kWidth, x.cols()), y(x.rows(), kWidth);
  for (int64_t i = 0; i < q.size(); ++i) q.data()[i] = static_cast<float>(random.normal());
  orthonormalize(q);
  for (int round = 0; round < kRounds; ++round) {
    gemm_nt(1, x, q, 0, y);
    gemm(1, transposed(y), x, 0, q);
    orthonormalize(q);
  }
  gemm_nt(1, x, q, 0, y);
  return y;
}

bool has_bits_only(FloatView points) {
  for (int64_t i = 0; i < points.rows(); ++i)
    for (const float value : points.row_span(i))
      if (value != 0 && value != 1) return false;
  return true;
}

void scale_to_unit(std::vector<float>& map) {
  float largest = 0;
  for (const float value : map) largest = std::max(largest, std::abs(value));
  if (largest > 0)
    for (float& value : map) value /= largest;
}

}  // namespace

std::vector<float> principal_map(FloatView points) {
  const int64_t n = points.rows();
  std::vector<float> map(static_cast<size_t>(2 * n));
  if (n < 2 || points.cols() < 1) return map;
  const bool is_wide = std::min(n, points.cols()) > kExactSide;
  const Matrix<float> leading = is_wide ? leading_coordinates(points) : Matrix<float>();
  const FloatView coordinates = is_wide ? leading.view() : points;
  const int axes = static_cast<int>(std::min<int64_t>(2, std::min(n, coordinates.cols())));
  const Matrix<float> projected = project(fit_pca(coordinates, axes), coordinates);
  for (int64_t i = 0; i < n; ++i)
    for (int a = 0; a < axes; ++a) map[static_cast<size_t>(2 * i + a)] = projected(i, a);
  scale_to_unit(map);
  return map;
}

Collection::Collection(CollectionOptions options) : options_(std::move(options)) {
  const Labels& labels = data().labels;
  class_sizes_.resize(labels.names.size());
  for (const int index : labels.indices)
    if (index >= 0) ++class_sizes_[static_cast<size_t>(index)];
  is_binary_ = has_bits_only(data().points.view());
  map_ = std::async(std::launch::async, [this] { return principal_map(data().points.view()); });
}

std::string Collection::name() const {
  std::filesystem::path path(data().source);
  if (path.filename().empty()) path = path.parent_path();
  std::error_code error;
  if (path.filename() == "." || path.filename() == "..")
    path = std::filesystem::canonical(path, error);
  return path.filename().string();
}

std::string Collection::row_name(int64_t row) const {
  const std::vector<std::string>& names = data().sample_names;
  return names.empty() ? std::to_string(row) : names[static_cast<size_t>(row)];
}

const std::vector<float>& Collection::map() const { return map_.get(); }

}  // namespace milieu

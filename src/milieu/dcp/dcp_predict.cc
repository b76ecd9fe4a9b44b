// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "milieu/base/counted.h"
#include "milieu/base/error.h"
#include "milieu/base/parallel.h"
#include "milieu/dcp/solve/dcp_gram_internal.h"
#include "milieu/dcp/solve/dcp_loops.h"
#include "milieu/linalg/isa.h"
#include "milieu/neighbors/check_points.h"

namespace milieu {
namespace {

constexpr int64_t kBlock = 256;

bool has_samples(const DcpModel& model) { return !model.samples.empty(); }

// Features of rows [begin, end): coordinates, or the kernel with every training sample.
Matrix<double> make_features(const DcpModel& model, FloatView rows, const KernelSpec& spec) {
  if (has_samples(model)) {
    Matrix<double> features(rows.rows(), model.samples.rows());
    kernel_block(spec, rows, model.samples, features.view());
    return features;
  }
  Matrix<double> features(rows.rows(), rows.cols());
  for (int64_t i = 0; i < rows.rows(); ++i) std::copy_n(rows.row(i), rows.cols(), features.row(i));
  return features;
}

}  // namespace

Matrix<double> decision_values(const DcpModel& model, FloatView points, int num_threads) {
  const int64_t d = has_samples(model) ? model.samples.cols() : model.coefficients.cols();
  require(points.cols() == d, [&] {
    return fmt::format("points has {}, the model has {}: they must match",
                       counted(points.cols(), "column"), d);
  });
  if (points.rows() > 0) check_points(points, "points", num_threads);
  KernelSpec spec;
  if (has_samples(model)) spec = internal::kernel_of_model(model);
  const int64_t num_parts = model.coefficients.rows();
  Matrix<double> values(points.rows(), num_parts);
  parallel_for(points.rows(), kBlock, num_threads, [&](const Block& block) {
    const Matrix<double> features =
        make_features(model, points.rows_between(block.begin, block.end), spec);
    std::vector<double> products(block.size());
    for (int64_t k = 0; k < num_parts; ++k) {
      MILIEU_SELECT_ISA(row_products)
      (features.data(), features.rows(), features.cols(), model.coefficients.row(k),
       products.data());
      for (int64_t i = 0; i < block.size(); ++i)
        values(block.begin + i, k) = products[i] + model.offsets[k];
    }
  });
  return values;
}

std::vector<int> predict(const DcpModel& model, FloatView points, int num_threads) {
  const Matrix<double> values = decision_values(model, points, num_threads);
  std::vector<int> labels(points.rows());
  for (int64_t i = 0; i < points.rows(); ++i) {
    const auto f = values.row_span(i);
    labels[i] = static_cast<int>(std::max_element(f.begin(), f.end()) - f.begin());
  }
  return labels;
}

}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// A sample of weight w is w equal samples, and one of weight 0 is none: the methods with weights,
// each from a start that does not depend on chance.
#include <gtest/gtest.h>

#include <map>

#include "milieu/classic/gmm/gmm.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/classic/kmodes/kmodes.h"
#include "milieu/dcp/dcp.h"
#include "milieu/testing/synthetic.h"

namespace milieu {
namespace {

struct Repeated {
  std::vector<double> weights;  // n: 0, 1, 2, 3, 0, ...
  Matrix<float> rows;           // every sample as often as its weight says
  std::vector<int64_t> origin;  // the sample of each row
};

Repeated repeat(const Matrix<float>& points) {
  Repeated out;
  for (int64_t i = 0; i < points.rows(); ++i) {
    out.weights.push_back(static_cast<double>(i % 4));
    for (int64_t copy = 0; copy < i % 4; ++copy) out.origin.push_back(i);
  }
  out.rows = Matrix<float>(static_cast<int64_t>(out.origin.size()), points.cols());
  for (size_t r = 0; r < out.origin.size(); ++r)
    std::copy_n(points.row(out.origin[r]), points.cols(), out.rows.row(static_cast<int64_t>(r)));
  return out;
}

// The same parts, whatever their numbers: those may follow the first sample, of which weight 0 is
// left out.
void expect_same(const Repeated& repeated, const std::vector<int>& by_weight,
                 const std::vector<int>& by_rows, double objective, double objective_of_rows) {
  std::map<int, int> forward, back;
  for (size_t r = 0; r < repeated.origin.size(); ++r) {
    const int label = by_weight[static_cast<size_t>(repeated.origin[r])];
    ASSERT_EQ(forward.emplace(label, by_rows[r]).first->second, by_rows[r]) << r;
    ASSERT_EQ(back.emplace(by_rows[r], label).first->second, label) << r;
  }
  EXPECT_NEAR(objective, objective_of_rows, 1e-5 * std::abs(objective_of_rows));
}

// Clusters that overlap, so that the weights decide where the borders are.
const LabelledPoints& overlapping() {
  static const LabelledPoints data =
      make_blobs({.n = 200, .d = 3, .num_clusters = 3, .separation = 2.5, .seed = 4});
  return data;
}

TEST(Weights, KMeansTakesThemAsRepeatedSamples) {
  const Matrix<float>& points = overlapping().points;
  const Repeated repeated = repeat(points);
  KMeansOptions options;
  options.num_clusters = 3;
  const FloatView start = points.view().rows_between(0, 3);
  const KMeansResult a = fit_kmeans({points, repeated.weights, start}, options);
  const KMeansResult b = fit_kmeans({repeated.rows, {}, start}, options);
  expect_same(repeated, a.labels, b.labels, a.summary.objective, b.summary.objective);
}

TEST(Weights, GmmTakesThemAsRepeatedSamples) {
  const Matrix<float>& points = overlapping().points;
  const Repeated repeated = repeat(points);
  GmmOptions options;
  options.num_clusters = 3;
  GmmInput input;
  input.points = points;
  input.weights = repeated.weights;
  input.initial_means = points.view().rows_between(0, 3);
  GmmInput rows;
  rows.points = repeated.rows;
  rows.initial_means = input.initial_means;
  const GmmResult a = fit_gmm(input, options), b = fit_gmm(rows, options);
  expect_same(repeated, a.labels, b.labels, a.summary.objective, b.summary.objective);
}

TEST(Weights, KModesTakesThemAsRepeatedSamples) {
  const LabelledPoints data = make_binary_blobs(
      {.n = 200, .d = 24, .num_clusters = 3, .flip_probability = 0.25, .seed = 4});
  const Repeated repeated = repeat(data.points);
  KModesOptions options;
  options.num_clusters = 3;
  const FloatView start = data.points.view().rows_between(0, 3);
  const KModesResult a = fit_kmodes({data.points, repeated.weights, start}, options);
  const KModesResult b = fit_kmodes({repeated.rows, {}, start}, options);
  expect_same(repeated, a.labels, b.labels, a.summary.objective, b.summary.objective);
}

// The origin and the unit of length are weighted, too: rows of weight 0 do not move them.
TEST(Weights, DcpTakesThemAsRepeatedSamples_issue20) {
  const LabelledPoints& data = overlapping();
  const LabelledPoints context =
      make_blobs({.n = 60, .d = 3, .num_clusters = 1, .offset = 2, .seed = 9});
  const Repeated repeated = repeat(data.points), around = repeat(context.points);
  std::vector<int> start, start_of_rows;
  for (const int label : data.labels) start.push_back(label % 2);
  for (const int64_t i : repeated.origin) start_of_rows.push_back(start[static_cast<size_t>(i)]);
  DcpInput input;
  input.points = data.points;
  input.context = context.points;
  input.weights = repeated.weights;
  input.context_weights = around.weights;
  input.initial_labels = start;
  DcpInput rows;
  rows.points = repeated.rows;
  rows.context = around.rows;
  rows.initial_labels = start_of_rows;
  for (const DcpKernel kernel : {DcpKernel::Linear, DcpKernel::Rbf}) {
    DcpOptions options;
    options.kernel = kernel;
    options.gamma = kernel == DcpKernel::Rbf ? 0.05 : 0;
    options.scale = true;
    options.cost = 1;  // a larger one has many optima close to each other
    const DcpResult a = fit_dcp(input, options), b = fit_dcp(rows, options);
    expect_same(repeated, a.labels, b.labels, a.summary.objective, b.summary.objective);
  }
}

}  // namespace
}  // namespace milieu

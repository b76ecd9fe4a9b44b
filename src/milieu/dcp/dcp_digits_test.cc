// SPDX-License-Identifier: Apache-2.0
// Golden case 5 of the method's note: what the true split of two digits of USPS costs, and the two
// trivial ones. To 1e-5 of the value; the note prints six decimals.
#include <algorithm>

#include "milieu/data/dataset.h"
#include "milieu/dcp/dcp.h"
#include "milieu/testing/matchers.h"
#include "milieu/testing/test_data.h"

namespace milieu {
namespace {

// Rows of the classes in `classes` ("6,0"), pixels in [0, 1], and the place of each row's class.
struct Digits {
  Matrix<float> points;
  std::vector<int> labels;
};

Digits load_digits(const std::string& folder, const std::string& classes) {
  LoadOptions options;
  options.labels_path = folder + "/labels.npy";
  options.select = classes;
  const Dataset data = load_dataset(folder + "/X.npy", options);
  Digits digits{Matrix<float>(data.points.view()), {}};
  for (float& value : std::span(digits.points.data(), digits.points.size())) value /= 255;
  const int first = data.labels.indices[0];
  for (const int index : data.labels.indices) digits.labels.push_back(index == first ? 0 : 1);
  return digits;
}

struct GoldenDigits {
  const char *mixture, *context;
  double truth, joint, empty;
};

class DcpGoldenDigits : public ::testing::TestWithParam<GoldenDigits> {};

TEST_P(DcpGoldenDigits, TrueSplitCostsWhatTheNotePrints) {
  const auto folder = find_data("usps_roweis");
  if (!folder) GTEST_SKIP() << no_data_message("usps_roweis");
  const GoldenDigits& golden = GetParam();
  const Digits mixture = load_digits(*folder, golden.mixture);
  const Digits context = load_digits(*folder, golden.context);
  ASSERT_EQ(mixture.points.rows(), 2200);
  ASSERT_EQ(std::count(mixture.labels.begin(), mixture.labels.end(), 1), 1100);
  DcpInput input;
  input.points = mixture.points;
  input.context = context.points;
  DcpOptions options = margin_dcp_options();  // squared hinge, C = 100, bias 1
  options.center = false;
  const DcpSplitCost cost = split_cost(input, mixture.labels, options);
  const auto expect_close = [](double value, double wanted) {
    EXPECT_NEAR(value, wanted, 1e-5 * wanted);
  };
  expect_close(cost.objective, golden.truth);
  expect_close(cost.joint_objective, golden.joint);
  expect_close(cost.empty_objective, golden.empty);
  EXPECT_LE(cost.gap, 1e-6 * cost.objective);
}

INSTANTIATE_TEST_SUITE_P(
    Usps, DcpGoldenDigits,
    ::testing::Values(GoldenDigits{"6,0", "7", 1.964062, 1.531622, 0.134655},
                      GoldenDigits{"6,0", "2", 25.825307, 121.036467, 0.077587},
                      GoldenDigits{"2,0", "5", 28.409540, 102.541589, 0.094741}),
    [](const auto& test) {
      const GoldenDigits& golden = test.param;
      return std::string("Digits") + golden.mixture[0] + "And" + golden.mixture[2] + "Against" +
             golden.context;
    });

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/report/run_view.h"

namespace milieu {
namespace {

// The mean of each part's rows, and one distance after the other.
std::vector<double> margins_twin(FloatView points, const std::vector<int32_t>& rows,
                                 const std::vector<int32_t>& labels, int num_parts) {
  const auto distance = [&](int32_t row, int part) {
    double sum = 0, count = 0;
    for (const int32_t label : labels) count += label == part ? 1 : 0;
    if (count == 0) return HUGE_VAL;
    for (int64_t j = 0; j < points.cols(); ++j) {
      double mean = 0;
      for (size_t i = 0; i < rows.size(); ++i)
        if (labels[i] == part) mean += points(rows[i], j) / count;
      sum += std::pow(points(row, j) - mean, 2);
    }
    return std::sqrt(sum);
  };
  std::vector<double> margins(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (labels[i] < 0) continue;
    double other = HUGE_VAL;
    for (int k = 0; k < num_parts; ++k)
      if (k != labels[i]) other = std::min(other, distance(rows[i], k));
    margins[i] = (std::isfinite(other) ? other : 0) - distance(rows[i], labels[i]);
  }
  return margins;
}

TEST(MeanMargins, EqualThoseOfAllDistances) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Matrix<float> points(30, 3);
    for (int64_t i = 0; i < points.size(); ++i)
      points.data()[i] = static_cast<float>(random.normal());
    const int num_parts = 1 + static_cast<int>(seed % 6);  // some without rows
    std::vector<int32_t> rows, labels;
    for (int32_t row = 0; row < 30; row += 2) {
      rows.push_back(row);
      labels.push_back(static_cast<int32_t>(random.uniform_index(num_parts + 1)) - 1);
    }
    const auto twin = margins_twin(points, rows, labels, num_parts);
    const auto margins = mean_margins(points, rows, labels, num_parts);
    ASSERT_EQ(margins.size(), twin.size());
    for (size_t i = 0; i < twin.size(); ++i) EXPECT_NEAR(margins[i], twin[i], 1e-5) << seed;
  }
}

TEST(MeanMargins, RowsOfNoPartHaveNone) {
  const Matrix<float> points(2, 3);
  EXPECT_EQ(mean_margins(points, std::vector<int32_t>{0, 1}, std::vector<int32_t>{-1, -1}, 2),
            std::vector<float>(2));
}

TEST(PartName, IsGivenByHandThenByLabelsThenByNumber) {
  PartInfo part;
  part.index = 1;
  EXPECT_EQ(part_name({}, part), "Part 2");
  EXPECT_EQ(named_by({}, part), NamedBy::Number);
  part.names.labels.resize(2);
  part.names.labels[0].name = "snow leopard";
  part.names.labels[1].name = "lynx";
  EXPECT_EQ(part_name({"other"}, part), "snow leopard, lynx");
  EXPECT_EQ(named_by({"other", ""}, part), NamedBy::Labels);
  EXPECT_EQ(part_name({"other", "mine"}, part), "mine");
  EXPECT_EQ(named_by({"other", "mine"}, part), NamedBy::Hand);
}

TEST(PartName, LabelsAreReadFromTheSummary) {
  const std::vector<PartNames> names = names_of(
      R"({"part_names": [{"name": "a", "labels": [{"label": 3, "name": "a", "sure": 0.5, "p": 0.01}],
          "exemplar": [{"name": "b"}]}, 7, {"labels": [{"name": 5}, 4]}]})");
  ASSERT_EQ(names.size(), 3U);
  ASSERT_EQ(names[0].labels.size(), 1U);
  EXPECT_EQ(names[0].labels[0].label, 3);
  EXPECT_EQ(names[0].labels[0].sure, 0.5);
  EXPECT_EQ(names[0].exemplar[0].name, "b");
  EXPECT_TRUE(names[1].labels.empty());
  EXPECT_TRUE(names[2].labels.empty());
  EXPECT_TRUE(names_of("").empty());
  EXPECT_TRUE(names_of(R"({"part_names": 4})").empty());
}

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/classic/counts/bags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/classic/kmeans/kmeans.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Rows {
  Matrix<float> counts{60, 12};
  std::vector<int> labels;
};

// Three kinds of rows that prefer four words each.
Rows make_rows(uint64_t seed) {
  Rows rows;
  Random random(seed);
  for (int d = 0; d < 60; ++d) {
    rows.labels.push_back(d % 3);
    for (int i = 0; i < 40; ++i)
      rows.counts(d, random.bernoulli(0.8) ? 4 * (d % 3) + random.uniform_index(4)
                                           : random.uniform_index(12)) += 1;
  }
  return rows;
}

TEST(Bags, LogCountsOfAHandCase) {
  Matrix<float> counts(1, 4);
  counts(0, 0) = 1.5f, counts(0, 2) = 7.5f;
  BagsModel model;
  model.num_bands = 2;
  model.idf.assign(4, 1.0);
  const Matrix<float> points = weighted_counts(model, counts);
  // log 2 and log 1/2 about their mean 0; log 8 and log 1/2 about log 2.
  EXPECT_NEAR(points(0, 0), std::log(2.0), 1e-6);
  EXPECT_NEAR(points(0, 1), -std::log(2.0), 1e-6);
  EXPECT_NEAR(points(0, 2), std::log(4.0), 1e-6);
  EXPECT_NEAR(points(0, 3), -std::log(4.0), 1e-6);
}

TEST(Bags, TfIdfOfAHandCase) {
  Matrix<float> counts(2, 3);
  counts(0, 0) = 3, counts(0, 1) = 4, counts(1, 0) = 1, counts(1, 2) = 2;
  BagsOptions options;
  options.num_clusters = 2, options.weighting = BagWeighting::TfIdf;
  const BagsResult result = fit_bags({counts.view()}, options);
  EXPECT_NEAR(result.model.idf[0], 0, 1e-12);  // in every row
  EXPECT_NEAR(result.model.idf[1], std::log(2.0), 1e-12);
  const Matrix<float> points = weighted_counts(result.model, counts);
  EXPECT_NEAR(points(0, 1), 1, 1e-6);
  EXPECT_NEAR(points(1, 2), 1, 1e-6);
  EXPECT_NE(result.labels[0], result.labels[1]);
}

TEST(Bags, IsKMeansOfTheWeightedCounts) {
  const Rows rows = make_rows(1);
  for (const BagWeighting weighting : {BagWeighting::LogCounts, BagWeighting::TfIdf}) {
    BagsOptions options;
    options.num_clusters = 3, options.weighting = weighting;
    const BagsResult result = fit_bags({rows.counts.view()}, options);
    EXPECT_THAT(result.labels, IsSamePartitionAs(rows.labels));
    EXPECT_EQ(predict(result.model, rows.counts), result.labels);
    KMeansOptions kmeans;
    kmeans.num_clusters = 3;
    const Matrix<float> points = weighted_counts(result.model, rows.counts);
    const KMeansResult plain = fit_kmeans({points.view(), {}, {}}, kmeans);
    EXPECT_EQ(plain.labels, result.labels);
    EXPECT_EQ(plain.summary.objective, result.summary.objective);
  }
}

TEST(Bags, SharesInPlaceOfCountsAreWarnedOf) {
  Rows rows = make_rows(1);
  BagsOptions options;
  options.num_clusters = 2;
  EXPECT_THAT(fit_bags({rows.counts.view()}, options).summary.warnings, IsEmpty());
  for (int64_t i = 0; i < rows.counts.size(); ++i) rows.counts.data()[i] /= 1000;
  EXPECT_THAT(fit_bags({rows.counts.view()}, options).summary.warnings,
              Contains(HasSubstr("counts are fractions of at most 1")));
  options.weighting = BagWeighting::TfIdf;  // knows no sizes
  EXPECT_THAT(fit_bags({rows.counts.view()}, options).summary.warnings, IsEmpty());
}

TEST(Bags, BadInputIsRefused) {
  Rows rows = make_rows(1);
  BagsOptions options;
  options.num_bands = 5;
  EXPECT_THAT(message_of([&] { fit_bags({rows.counts.view()}, options); }),
              HasSubstr("num_bands is 5, counts have 12 columns"));
  options.num_bands = 1;
  rows.counts(3, 2) = -1;
  EXPECT_THAT(message_of([&] { fit_bags({rows.counts.view()}, options); }),
              HasSubstr("counts has -1 at row 3, column 2"));
  EXPECT_THROW(bag_weighting_from("tfidf"), DataError);
  rows.counts(3, 2) = 1;
  const BagsModel model = fit_bags({rows.counts.view()}, options).model;
  EXPECT_THROW(predict(model, Matrix<float>(2, 5)), InvalidArgument);
}

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/naming/evidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

Matrix<float> matrix(int64_t rows, int64_t cols, const std::vector<float>& values) {
  Matrix<float> out(rows, cols);
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

Matrix<float> random_matrix(int64_t rows, int64_t cols, uint64_t seed) {
  Random random(seed);
  Matrix<float> out(rows, cols);
  for (int64_t i = 0; i < out.size(); ++i) out.data()[i] = static_cast<float>(random.normal());
  return out;
}

// The value of every label, 0 where a sample has none.
std::vector<double> dense(const LabelEvidence& evidence, int64_t sample) {
  std::vector<double> values(static_cast<size_t>(evidence.num_labels));
  const auto labels = evidence.labels_of(sample);
  for (size_t e = 0; e < labels.size(); ++e)
    values[static_cast<size_t>(labels[e])] = evidence.values_of(sample)[e];
  return values;
}

void expect_same(const LabelEvidence& a, const LabelEvidence& b) {
  EXPECT_EQ(a.num_labels, b.num_labels);
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.values, b.values);
}

TEST(Evidence, IsTheReciprocalRank) {
  const LabelEvidence evidence = evidence_from_scores(matrix(2, 3, {3, 1, 2, -5, 0, -9}));
  const std::vector<double> first = dense(evidence, 0), second = dense(evidence, 1);
  EXPECT_FLOAT_EQ(first[0], 1);
  EXPECT_FLOAT_EQ(first[1], 1.0F / 3);
  EXPECT_FLOAT_EQ(first[2], 0.5);
  EXPECT_FLOAT_EQ(second[1], 1);
  EXPECT_FLOAT_EQ(second[2], 1.0F / 3);
}

TEST(Evidence, OnlyTenRanksCount) {
  Matrix<float> scores(1, 25);
  for (int64_t l = 0; l < 25; ++l) scores(0, l) = static_cast<float>(l);
  const LabelEvidence evidence = evidence_from_scores(scores);
  ASSERT_EQ(evidence.labels_of(0).size(), 10U);
  EXPECT_EQ(evidence.labels_of(0)[0], 15);
  EXPECT_FLOAT_EQ(evidence.values_of(0)[0], 0.1F);
  EXPECT_FLOAT_EQ(evidence.values_of(0)[9], 1);
}

TEST(Evidence, EqualScoresShareTheirRanks) {
  const std::vector<double> values =
      dense(evidence_from_scores(matrix(1, 4, {5, 7, 5, 1})), 0);  // ranks 2 and 3 are shared
  EXPECT_FLOAT_EQ(values[0], (1.0 / 2 + 1.0 / 3) / 2);
  EXPECT_FLOAT_EQ(values[2], (1.0 / 2 + 1.0 / 3) / 2);
  EXPECT_FLOAT_EQ(values[1], 1);
  EXPECT_FLOAT_EQ(values[3], 0.25);
}

// As of a network whose unused scores are all 0.
TEST(Evidence, TiesBeyondTheLastRankSayNothing) {
  Matrix<float> scores(2, 40);
  scores(0, 7) = 3;
  const LabelEvidence evidence = evidence_from_scores(scores);
  ASSERT_EQ(evidence.labels_of(0).size(), 1U);
  EXPECT_EQ(evidence.labels_of(0)[0], 7);
  EXPECT_TRUE(evidence.labels_of(1).empty());  // a constant row
  const LabelEvidence few = evidence_from_scores(Matrix<float>(1, 3));
  for (const float value : few.values_of(0)) EXPECT_FLOAT_EQ(value, (1 + 1.0 / 2 + 1.0 / 3) / 3);
}

TEST(Evidence, DoesNotDependOnTheScaleOfScores) {
  const Matrix<float> logits = random_matrix(30, 50, 1);
  Matrix<float> powers(30, 50);
  for (int64_t i = 0; i < logits.size(); ++i) powers.data()[i] = std::exp(3 * logits.data()[i]) - 2;
  expect_same(evidence_from_scores(logits), evidence_from_scores(powers));
}

TEST(Evidence, OfVectorsIsThatOfTheirCosines) {
  const Matrix<float> points = random_matrix(300, 8, 2), labels = random_matrix(20, 8, 3);
  Matrix<float> cosines(300, 20);
  for (int64_t i = 0; i < 300; ++i)
    for (int64_t l = 0; l < 20; ++l) {
      double product = 0, a = 0, b = 0;
      for (int64_t j = 0; j < 8; ++j) {
        product += double{points(i, j)} * labels(l, j);
        a += double{points(i, j)} * points(i, j);
        b += double{labels(l, j)} * labels(l, j);
      }
      cosines(i, l) = static_cast<float>(product / std::sqrt(a * b));
    }
  expect_same(evidence_from_vectors(points, labels), evidence_from_scores(cosines));
}

TEST(Evidence, OfAVectorOfZerosIsShared) {
  const LabelEvidence evidence =
      evidence_from_vectors(matrix(1, 2, {0, 0}), matrix(2, 2, {1, 0, 0, 1}));
  EXPECT_EQ(dense(evidence, 0), (std::vector<double>{0.75, 0.75}));
}

TEST(Evidence, IsTheSameForAnyNumberOfThreads) {
  const Matrix<float> scores = random_matrix(2000, 30, 4);
  expect_same(evidence_from_scores(scores, 1), evidence_from_scores(scores, 4));
}

TEST(Evidence, NothingGivesNothing) {
  EXPECT_EQ(evidence_from_scores(Matrix<float>(0, 5)).num_samples(), 0);
}

TEST(Evidence, ScoresThatAreNotFiniteAreNamed) {
  Matrix<float> scores(4, 3);
  scores(2, 1) = std::numeric_limits<float>::quiet_NaN();
  try {
    evidence_from_scores(scores);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(),
                 "scores has nan at row 2, column 1 (counted from 0): it must be finite");
  }
}

TEST(Evidence, OtherWidthsAreNamed) {
  try {
    evidence_from_vectors(Matrix<float>(4, 3), Matrix<float>(2, 5));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "the label vectors have 5 columns, the samples 3: they must match");
  }
}

}  // namespace
}  // namespace milieu

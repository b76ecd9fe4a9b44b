// SPDX-License-Identifier: Apache-2.0
#include "milieu/feature/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// Words 0, 10 and 20 on a line.
Vocabulary line_vocabulary() {
  Vocabulary v;
  v.words.centers = Matrix<float>(3, 1);
  for (int i = 0; i < 3; ++i) v.words.centers(i, 0) = static_cast<float>(10 * i);
  return v;
}

struct Patches {
  Matrix<float> descriptors, frames;
};

Patches make_patches(const std::vector<std::array<float, 3>>& value_x_y) {
  const auto m = static_cast<int64_t>(value_x_y.size());
  Patches p{Matrix<float>(m, 1), Matrix<float>(m, 4)};
  for (int64_t i = 0; i < m; ++i) {
    p.descriptors(i, 0) = value_x_y[i][0];
    p.frames(i, 0) = value_x_y[i][1];
    p.frames(i, 1) = value_x_y[i][2];
  }
  return p;
}

TEST(Words, EachDescriptorCountsForItsNearestWord) {
  const Patches p = make_patches({{1, 0, 0}, {9, 0, 0}, {11, 0, 0}, {30, 0, 0}});
  EXPECT_THAT(count_words(line_vocabulary(), p.descriptors, p.frames, 8, 8, 1),
              ElementsAre(1, 2, 1));
}

TEST(Words, ImageWithoutDescriptorsCountsNothing) {
  EXPECT_THAT(count_words(line_vocabulary(), Matrix<float>(0, 1), Matrix<float>(0, 4), 8, 8, 2),
              Each(0.0f));
}

TEST(Words, CodebookOfAnotherLengthIsRefused) {
  EXPECT_THROW(count_words(line_vocabulary(), Matrix<float>(1, 2), Matrix<float>(1, 4), 8, 8, 1),
               InvalidArgument);
}

TEST(Words, PyramidCountsEachCellOfEachLevel) {
  // An 8 x 8 image: columns 0 to 3 are the left half.
  const Patches p = make_patches({{0, 3, 0}, {10, 4, 0}, {20, 0, 4}, {20, 7, 7}});
  const std::vector<float> counts =
      count_words(line_vocabulary(), p.descriptors, p.frames, 8, 8, 2);
  EXPECT_THAT(counts, ElementsAre(1, 1, 2, /**/ 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1));
  EXPECT_EQ(num_pyramid_cells(1), 1);
  EXPECT_EQ(num_pyramid_cells(3), 21);
}

TEST(Words, EveryLevelOfThePyramidCountsAllDescriptors) {
  Random random(1);
  Patches p = make_patches(std::vector<std::array<float, 3>>(50));
  for (int64_t i = 0; i < 50; ++i) {
    p.descriptors(i, 0) = static_cast<float>(random.uniform(0, 20));
    p.frames(i, 0) = static_cast<float>(random.uniform(0, 29));
    p.frames(i, 1) = static_cast<float>(random.uniform(0, 16));
  }
  const std::vector<float> counts =
      count_words(line_vocabulary(), p.descriptors, p.frames, 30, 17, 3);
  for (int level = 0; level < 3; ++level)
    EXPECT_EQ(std::accumulate(counts.begin() + 3 * num_pyramid_cells(level),
                              counts.begin() + 3 * num_pyramid_cells(level + 1), 0.0f),
              50);
}

TEST(Words, LevelsOfThePyramidAreWeighted) {
  WordOptions options;
  options.norm = WordNorm::None;
  options.pyramid_levels = 3;
  std::vector<float> counts(21, 1.0f);  // one word
  finish_words(counts, {}, options);
  EXPECT_EQ(counts[0], 0.25f);
  EXPECT_EQ(counts[1], 0.25f);
  EXPECT_EQ(counts[5], 0.5f);
}

TEST(Words, NormsAreOne) {
  for (const WordNorm norm : {WordNorm::L1, WordNorm::L2}) {
    WordOptions options;
    options.norm = norm;
    std::vector<float> counts = {3, 0, 4}, zeros = {0, 0, 0};
    finish_words(counts, {}, options);
    EXPECT_FLOAT_EQ(counts[0], norm == WordNorm::L1 ? 3.0f / 7 : 0.6f);
    finish_words(zeros, {}, options);
    EXPECT_THAT(zeros, Each(0.0f));
  }
}

TEST(Words, WordsOfEveryImageHaveNoWeight) {
  Matrix<float> counts(3, 3);
  counts(0, 0) = counts(1, 0) = counts(2, 0) = 5;
  counts(1, 1) = 1;
  const std::vector<double> idf = inverse_document_frequencies(counts, 3);
  EXPECT_DOUBLE_EQ(idf[0], 0);
  EXPECT_DOUBLE_EQ(idf[1], std::log(2.0));
  EXPECT_DOUBLE_EQ(idf[2], std::log(4.0));
  WordOptions options;
  options.norm = WordNorm::None;
  std::vector<float> row = {2, 3, 1};
  finish_words(row, idf, options);
  EXPECT_FLOAT_EQ(row[0], 0);
  EXPECT_FLOAT_EQ(row[1], static_cast<float>(3 * std::log(2.0)));
}

TEST(Words, VocabularyIsLearnedFromTheSample) {
  Matrix<float> sample(40, 2);
  for (int i = 0; i < 40; ++i) sample(i, i % 2) = static_cast<float>(100 + i % 4);
  WordOptions options;
  options.num_words = 2;
  const Vocabulary v = learn_vocabulary(sample, options);
  EXPECT_EQ(v.size(), 2);
  options.num_words = 100;
  EXPECT_EQ(learn_vocabulary(sample.view().rows_between(0, 3), options).size(), 3);
  EXPECT_THROW(learn_vocabulary(FloatView(), options), InvalidArgument);
  options.pca = 3;
  EXPECT_THROW(learn_vocabulary(sample, options), InvalidArgument);
}

TEST(Words, PcaReducesDescriptorsBeforeTheyAreWords) {
  Random random(2);
  Matrix<float> sample(60, 5);
  for (int64_t i = 0; i < sample.size(); ++i)
    sample.data()[i] = static_cast<float>(random.uniform());
  WordOptions options;
  options.num_words = 4;
  options.pca = 2;
  const Vocabulary v = learn_vocabulary(sample, options);
  EXPECT_EQ(v.words.centers.cols(), 2);
  const Matrix<float> reduced = reduce(v, sample);
  EXPECT_EQ(reduced, project(fit_pca(sample, 2), sample));
  EXPECT_EQ(reduce(v, Matrix<float>(0, 5)).cols(), 2);
  EXPECT_EQ(reduce(line_vocabulary(), sample), sample);
}

}  // namespace
}  // namespace milieu

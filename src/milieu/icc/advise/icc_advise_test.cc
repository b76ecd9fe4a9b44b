// SPDX-License-Identifier: Apache-2.0
// Should a class be split? Made classes whose answer is known; every seed is fixed.
#include "milieu/icc/advise/icc_advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stop_token>

#include "milieu/base/error.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;

struct Made {
  Matrix<float> points;
  std::vector<int> classes;
};

// One value of a distribution with a single mode.
double draw(int shape, Random& random) {
  switch (shape) {
    case 0:
      return random.normal();
    case 1:
      return random.uniform(-1.7, 1.7);
    case 2:
      return -std::log(1 - random.uniform());
    default:
      return random.normal() / std::sqrt(0.3 + random.uniform());  // heavy tails
  }
}

// `parts[c]` pieces in class c, `apart` standard deviations from each other.
Made make_classes(const std::vector<int>& parts, int per_part, int dims, double apart,
                  uint64_t seed) {
  Random random(seed);
  int total = 0;
  for (const int count : parts) total += count * per_part;
  Made made{Matrix<float>(total, dims), {}};
  int64_t row = 0;
  for (size_t c = 0; c < parts.size(); ++c) {
    const int shape = static_cast<int>(random.uniform_index(4));
    std::vector<double> centre(dims), step(dims);
    double norm = 0;
    for (int j = 0; j < dims; ++j) {
      centre[j] = 2 * random.normal();
      step[j] = random.normal();
      norm += step[j] * step[j];
    }
    for (int p = 0; p < parts[c]; ++p)
      for (int i = 0; i < per_part; ++i, ++row) {
        made.classes.push_back(static_cast<int>(c));
        for (int j = 0; j < dims; ++j)
          made.points(row, j) = static_cast<float>(
              centre[j] + apart * p * step[j] / std::sqrt(norm) + draw(shape, random));
      }
  }
  return made;
}

int num_split(const IccAdvice& advice) {
  int count = 0;
  for (const IccClassAdvice& own : advice.classes) count += own.part_sizes.size() > 1;
  return count;
}

TEST(IccAdvise, ClassesWithOneModeAreKept) {
  int split = 0, judged = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const Made made = make_classes({1, 1, 1, 1, 1, 1}, 60 + 20 * static_cast<int>(seed % 5),
                                   seed % 2 ? 3 : 15, 0, seed);
    split += num_split(advise_icc({made.points, made.classes}, {}));
    judged += 6;
  }
  EXPECT_LT(split, 0.05 * judged);
}

TEST(IccAdvise, UnionsAreFoundWithTheirPartsAndTheOthersKept) {
  const Made made = make_classes({1, 3, 2, 1, 1}, 80, 10, 8, 4);
  const IccAdvice advice = advise_icc({made.points, made.classes}, {});
  EXPECT_EQ(advice.classes[0].verdict, IccVerdict::Keep);
  EXPECT_EQ(advice.classes[1].verdict, IccVerdict::Split);
  EXPECT_EQ(advice.classes[1].part_sizes.size(), 3u);
  EXPECT_EQ(advice.classes[2].part_sizes, (std::vector<int64_t>{80, 80}));
  EXPECT_LE(advice.classes[2].gap_p, 0.002);
  EXPECT_GT(advice.classes[2].stability, 0.97);
  EXPECT_EQ(advice.class_from_part.size(), 8u);
  for (size_t i = 0; i < advice.labels.size(); ++i)
    ASSERT_EQ(advice.class_from_part[advice.labels[i]], made.classes[i]);
}

// A class with two arms that meet where it is densest has no gap; a class between the arms cuts it.
TEST(IccAdvise, TheContextThatCutsAClassIsNamed) {
  Random random(3);
  Made made{Matrix<float>(2400, 2), {}};
  for (int i = 0; i < 2400; ++i) {
    made.classes.push_back(i < 1600 ? 0 : 1);
    const double along = -2 * std::log(1 - random.uniform());
    for (int j = 0; j < 2; ++j)
      made.points(i, j) = static_cast<float>(
          i < 1600 ? (i % 2 == j ? along : 0) + 0.3 * random.normal() : 2 + 0.6 * random.normal());
  }
  const IccAdvice advice = advise_icc({made.points, made.classes}, {});
  EXPECT_EQ(advice.classes[0].verdict, IccVerdict::Context) << advice_text(advice, {});
  EXPECT_GT(advice.classes[0].gain, 0);
  EXPECT_EQ(advice.classes[0].context, 1);
  EXPECT_EQ(advice.classes[1].verdict, IccVerdict::Keep);
}

TEST(IccAdvise, SmallClassesAreNotJudged) {
  const Made made = make_classes({1, 2}, 15, 4, 9, 6);
  const IccAdvice advice = advise_icc({made.points, made.classes}, {});
  EXPECT_EQ(advice.classes[0].verdict, IccVerdict::TooFew);
  EXPECT_EQ(advice.classes[1].verdict, IccVerdict::TooFew);
  EXPECT_THAT(advice_text(advice, {"a", "b"}), HasSubstr("too few samples"));
}

TEST(IccAdvise, OneClassAloneIsJudgedByItsGap) {
  const Made made = make_classes({2}, 100, 6, 8, 8);
  const IccAdvice advice = advise_icc({made.points, made.classes}, {});
  EXPECT_EQ(advice.classes[0].verdict, IccVerdict::Split);
}

TEST(IccAdvise, ThreadsAndRepetitionChangeNoBit) {
  const Made made = make_classes({2, 1, 1, 2}, 60, 8, 5, 9);
  IccAdviseOptions options;
  options.num_threads = 1;
  const IccAdvice one = advise_icc({made.points, made.classes}, options);
  options.num_threads = 4;
  const IccAdvice four = advise_icc({made.points, made.classes}, options);
  EXPECT_EQ(one.labels, four.labels);
  for (size_t c = 0; c < 4; ++c) {
    EXPECT_EQ(one.classes[c].gap_p, four.classes[c].gap_p);
    EXPECT_EQ(one.classes[c].gain, four.classes[c].gain);
  }
}

TEST(IccAdvise, WrongInputIsRefused) {
  const Made made = make_classes({1, 1}, 50, 3, 0, 1);
  EXPECT_THROW(advise_icc({made.points, std::vector<int>(100, -1)}, {}), InvalidArgument);
  IccAdviseOptions options;
  options.level = 0;
  EXPECT_THROW(advise_icc({made.points, made.classes}, options), InvalidArgument);
  Matrix<float> broken = made.points;
  broken(3, 1) = NAN;
  EXPECT_THROW(advise_icc({broken, made.classes}, {}), DataError);
}

TEST(IccAdvise, AStoppedRunSaysSo) {
  const Made made = make_classes({2, 1, 1}, 60, 8, 8, 9);
  std::stop_source source;
  source.request_stop();
  Monitor monitor(source.get_token());
  const IccAdvice advice = advise_icc({made.points, made.classes}, {}, monitor);
  EXPECT_EQ(advice.summary.termination, Termination::Cancelled);
  EXPECT_EQ(num_split(advice), 0);
}

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/naming/naming.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <stop_token>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/naming/naming_steps.h"

namespace milieu {
namespace {

using Names = std::vector<std::vector<PartLabel>>;

// Scores of samples whose highest labels are given, the others in a random order below them.
Matrix<float> scores_with(const std::vector<std::vector<int>>& leading, int num_labels,
                          uint64_t seed) {
  Random random(seed);
  Matrix<float> scores(std::ssize(leading), num_labels);
  for (int64_t i = 0; i < scores.rows(); ++i) {
    for (int64_t l = 0; l < num_labels; ++l) scores(i, l) = static_cast<float>(random.uniform());
    float value = 100;
    for (const int label : leading[static_cast<size_t>(i)]) scores(i, label) = value--;
  }
  return scores;
}

// `count` samples led by these labels.
void add(std::vector<std::vector<int>>& leading, int count, std::vector<int> labels) {
  for (int i = 0; i < count; ++i) leading.push_back(labels);
}

std::vector<int> parts_of(const std::vector<int>& sizes) {
  std::vector<int> parts;
  for (size_t k = 0; k < sizes.size(); ++k)
    parts.insert(parts.end(), static_cast<size_t>(sizes[k]), static_cast<int>(k));
  return parts;
}

Names names_of(const LabelEvidence& samples, const std::vector<int>& parts, int num_parts,
               const LabelEvidence* context = nullptr, const std::vector<int>& classes = {},
               NamingOptions options = {}) {
  NamingInput input;
  input.samples = &samples;
  input.parts = parts;
  input.num_parts = num_parts;
  input.context = context;
  input.classes = classes;
  return name_parts(input, options);
}

std::vector<int> indices(const std::vector<PartLabel>& labels) {
  std::vector<int> found;
  for (const PartLabel& label : labels) found.push_back(label.label);
  return found;
}

// Ten samples per part. Label 0 leads everywhere in part 0 (1), in part 1 it is third (1/3): mean
// 1, lead 2/3. Label 5 is second everywhere: it sets nothing apart.
TEST(Naming, LeadIsTheDifferenceOfMeanReciprocalRanks) {
  std::vector<std::vector<int>> leading;
  add(leading, 10, {0, 5, 1});
  add(leading, 10, {1, 5, 0});
  const Names names =
      names_of(evidence_from_scores(scores_with(leading, 40, 1)), parts_of({10, 10}), 2);
  ASSERT_EQ(indices(names[0]), std::vector<int>{0});
  ASSERT_EQ(indices(names[1]), std::vector<int>{1});
  EXPECT_NEAR(names[0][0].mean, 1, 1e-6);
  EXPECT_NEAR(names[0][0].lead, 2.0 / 3, 1e-6);
  EXPECT_EQ(names[0][0].sure, 1);
  EXPECT_NEAR(names[0][0].p, 1.0 / 1000, 1e-12);
}

// What the most frequent label of a part would get wrong: label 9 is that of both parts.
TEST(Naming, TheMostFrequentLabelIsNotAName) {
  std::vector<std::vector<int>> leading;
  add(leading, 14, {9});
  add(leading, 10, {1});
  add(leading, 14, {9});
  add(leading, 10, {2});
  const Names names =
      names_of(evidence_from_scores(scores_with(leading, 60, 2)), parts_of({24, 24}), 2);
  EXPECT_EQ(indices(names[0]), std::vector<int>{1});
  EXPECT_EQ(indices(names[1]), std::vector<int>{2});
}

// Part 0 is half label 1, half label 2. Only label 2 is common in the context.
TEST(Naming, LabelsOfTheContextAreNotNames) {
  std::vector<std::vector<int>> leading, around;
  add(leading, 14, {1});
  add(leading, 10, {2});
  add(leading, 24, {3});
  add(around, 30, {2});
  const LabelEvidence samples = evidence_from_scores(scores_with(leading, 60, 3));
  const LabelEvidence context = evidence_from_scores(scores_with(around, 60, 4));
  const std::vector<int> parts = parts_of({24, 24});
  EXPECT_EQ(indices(names_of(samples, parts, 2)[0]), (std::vector<int>{1, 2}));
  EXPECT_EQ(indices(names_of(samples, parts, 2, &context)[0]), std::vector<int>{1});
}

// A context alone is enough to set the only part apart from.
TEST(Naming, OnePartIsNamedAgainstAContextOnly) {
  std::vector<std::vector<int>> leading, around;
  add(leading, 15, {1});
  add(around, 15, {2});
  const LabelEvidence samples = evidence_from_scores(scores_with(leading, 30, 5));
  const LabelEvidence context = evidence_from_scores(scores_with(around, 30, 6));
  EXPECT_TRUE(names_of(samples, parts_of({15}), 1)[0].empty());
  EXPECT_EQ(indices(names_of(samples, parts_of({15}), 1, &context)[0]), std::vector<int>{1});
}

// Classes 0 (parts 0 and 1) and 1 (parts 2 and 3). Label 7 leads in both parts of class 0; label 6
// in part 2, but it is as high in class 0.
TEST(Naming, PiecesOfClassesDifferFromTheirSiblingsAndFromOtherClasses) {
  std::vector<std::vector<int>> leading;
  add(leading, 20, {7, 6});
  add(leading, 20, {7, 2});
  add(leading, 14, {3});
  add(leading, 6, {6});
  add(leading, 20, {5});
  const LabelEvidence samples = evidence_from_scores(scores_with(leading, 60, 7));
  const std::vector<int> parts = parts_of({20, 20, 20, 20}), classes = {0, 0, 1, 1};
  const Names names = names_of(samples, parts, 4, nullptr, classes);
  EXPECT_EQ(indices(names[0]), std::vector<int>{6});
  EXPECT_EQ(indices(names[1]), std::vector<int>{2});
  EXPECT_EQ(indices(names[2]), std::vector<int>{3});  // label 6 is no rarer in class 0
  EXPECT_EQ(indices(names[3]), std::vector<int>{5});
  EXPECT_EQ(names_of(samples, parts, 4)[0][0].label, 7);  // without classes it would be a name
}

TEST(Naming, SamplesWithoutAPartAreTheRest) {
  std::vector<std::vector<int>> leading;
  add(leading, 10, {1});
  add(leading, 20, {2});
  const LabelEvidence samples = evidence_from_scores(scores_with(leading, 30, 8));
  std::vector<int> parts(30, NamingInput::kNoPart);
  std::fill_n(parts.begin(), 10, 0);
  EXPECT_EQ(indices(names_of(samples, parts, 1)[0]), std::vector<int>{1});
  std::fill(parts.begin() + 10, parts.end(), NamingInput::kLeftOut);
  EXPECT_TRUE(names_of(samples, parts, 1)[0].empty());
}

TEST(Naming, NothingSetsApartGivesNoNames) {
  const LabelEvidence constant = evidence_from_scores(Matrix<float>(20, 5));
  for (const auto& labels : names_of(constant, parts_of({10, 10}), 2)) EXPECT_TRUE(labels.empty());
  std::vector<std::vector<int>> leading;
  add(leading, 20, {3});
  const LabelEvidence same = evidence_from_scores(scores_with(leading, 5, 9));
  for (const auto& labels : names_of(same, parts_of({10, 10}), 2)) EXPECT_TRUE(labels.empty());
  EXPECT_TRUE(names_of(evidence_from_scores(Matrix<float>(0, 5)), {}, 0).empty());
}

TEST(Naming, EmptyPartsAndSinglesHaveNoNames) {
  std::vector<std::vector<int>> leading;
  add(leading, 1, {1});
  add(leading, 20, {2});
  add(leading, 20, {3});
  std::vector<int> parts = parts_of({1, 0, 20, 20});
  const Names names = names_of(evidence_from_scores(scores_with(leading, 40, 10)), parts, 4);
  EXPECT_TRUE(names[0].empty());
  EXPECT_TRUE(names[1].empty());
  EXPECT_EQ(indices(names[2]), std::vector<int>{2});
}

// Three against three: 1 of 20 draws of either part is as good, which is above the level.
TEST(Naming, TooFewSamplesHaveNoNames) {
  std::vector<std::vector<int>> leading;
  add(leading, 3, {1});
  add(leading, 3, {2});
  const LabelEvidence samples = evidence_from_scores(scores_with(leading, 20, 11));
  for (const auto& labels : names_of(samples, parts_of({3, 3}), 2)) EXPECT_TRUE(labels.empty());
}

TEST(Naming, EqualLeadsGoToTheLowestLabel) {
  std::vector<std::vector<int>> leading;
  for (int i = 0; i < 20; ++i) add(leading, 1, i % 2 == 0 ? std::vector{8, 3} : std::vector{3, 8});
  add(leading, 20, {1});
  NamingOptions options;
  options.max_labels = 1;
  const Names names = names_of(evidence_from_scores(scores_with(leading, 30, 12)),
                               parts_of({20, 20}), 2, nullptr, {}, options);
  EXPECT_EQ(indices(names[0]), std::vector<int>{3});
  EXPECT_LT(names[0][0].sure, 0.9);  // label 8 leads in about half of the resamples
  EXPECT_GT(names[0][0].sure, 0.2);
}

// Scores as classifiers give them: labels that depend on each other, some much more frequent.
Matrix<float> correlated_scores(int64_t n, int64_t num_labels, Random& random) {
  Matrix<float> scores(n, num_labels);
  for (int64_t i = 0; i < n; ++i) {
    const double mood = random.normal();
    for (int64_t l = 0; l < num_labels; ++l)
      scores(i, l) = static_cast<float>(random.normal() + mood * static_cast<double>(l % 5) / 2 +
                                        (l < 3 ? 2 : 0));
  }
  return scores;
}

// How many of 200 sets of random parts get any name. At a level of 5 % there are 10 on average, and
// more than 21 in one of 2,000 such experiments.
int false_names(const std::vector<int>& sizes, int64_t num_context,
                const std::vector<int>& classes = {}) {
  Random random(20);
  int count = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<int> parts = parts_of(sizes);
    random.shuffle(std::span(parts));
    const LabelEvidence samples =
        evidence_from_scores(correlated_scores(std::ssize(parts), 40, random));
    const LabelEvidence context = evidence_from_scores(correlated_scores(num_context, 40, random));
    NamingOptions options;
    options.num_permutations = 199;
    options.num_resamples = 1;
    options.seed = static_cast<uint64_t>(trial);
    bool has_names = false;
    for (const auto& labels : names_of(samples, parts, static_cast<int>(sizes.size()),
                                       num_context > 0 ? &context : nullptr, classes, options))
      has_names = has_names || !labels.empty();
    count += has_names;
  }
  return count;
}

TEST(Naming, RandomPartsHaveNamesAtTheStatedRate) {
  EXPECT_LE(false_names({20, 20}, 0), 21);
  EXPECT_LE(false_names({4, 7, 30, 12}, 0), 21);
}

TEST(Naming, RandomPartsHaveNamesAtTheStatedRateWithContextAndClasses) {
  EXPECT_LE(false_names({20, 20}, 30), 21);
  EXPECT_LE(false_names({15}, 20), 21);  // the context alone
  EXPECT_LE(false_names({12, 12, 12, 12}, 0, {0, 0, 1, 1}), 21);
}

// All subsets of a small pool, by hand.
TEST(Naming, PValuesAreThoseOfAllDraws) {
  Random random(31);
  const Matrix<float> scores = correlated_scores(10, 6, random);
  const LabelEvidence evidence = evidence_from_scores(scores);
  const std::vector<int> parts = parts_of({4, 6});
  const auto mean = [&](unsigned rows, int label) {
    double sum = 0, count = 0;
    for (int64_t i = 0; i < 10; ++i) {
      if ((rows >> i & 1U) == 0) continue;
      ++count;
      for (size_t e = 0; e < evidence.labels_of(i).size(); ++e)
        if (evidence.labels_of(i)[e] == label) sum += evidence.values_of(i)[e];
    }
    return sum / count;
  };
  const auto scaled = [&](unsigned rows, int label) {
    return (mean(rows, label) - mean(1023U & ~rows, label)) / std::sqrt(1.0 / 4 + 1.0 / 6);
  };
  // Draws of parts of the given size whose best label reaches `value`.
  const auto share = [&](int size, double value) {
    int reached = 0, all = 0;
    for (unsigned rows = 1; rows < 1023; ++rows) {
      if (std::popcount(rows) != size) continue;
      double best = 0;
      for (int label = 0; label < 6; ++label) best = std::max(best, scaled(rows, label));
      ++all;
      reached += best >= value - 1e-9;
    }
    return static_cast<double>(reached) / all;
  };
  NamingOptions options;
  options.level = 1;
  options.min_lead = 0;
  options.num_permutations = 40'000;
  const Names names = names_of(evidence, parts, 2, nullptr, {}, options);
  ASSERT_FALSE(names[0].empty());
  for (size_t k = 0; k < 2; ++k)
    for (const PartLabel& label : names[k]) {
      const double value = scaled(k == 0 ? 15U : 1008U, label.label);
      const double expected = 1 - (1 - share(4, value)) * (1 - share(6, value));
      EXPECT_NEAR(label.p, expected, 5 * std::sqrt(0.25 / 40'000)) << label.label;
      EXPECT_NEAR(label.lead, value * std::sqrt(1.0 / 4 + 1.0 / 6), 1e-6);
    }
}

TEST(Naming, IsTheSameForAnyNumberOfThreads) {
  Random random(41);
  Matrix<float> scores = correlated_scores(120, 30, random);
  for (int64_t i = 0; i < 40; ++i) scores(i, 11) += 3;
  const LabelEvidence samples = evidence_from_scores(scores);
  const LabelEvidence context = evidence_from_scores(correlated_scores(50, 30, random));
  const std::vector<int> parts = parts_of({40, 40, 40});
  NamingOptions one, four;
  one.num_threads = 1;
  four.num_threads = 4;
  const Names a = names_of(samples, parts, 3, &context, {}, one);
  const Names b = names_of(samples, parts, 3, &context, {}, four);
  ASSERT_FALSE(a[0].empty());
  for (size_t k = 0; k < 3; ++k) {
    ASSERT_EQ(indices(a[k]), indices(b[k]));
    for (size_t i = 0; i < a[k].size(); ++i) {
      EXPECT_EQ(a[k][i].p, b[k][i].p);
      EXPECT_EQ(a[k][i].sure, b[k][i].sure);
      EXPECT_EQ(a[k][i].lead, b[k][i].lead);
    }
  }
}

TEST(Naming, ACancelledMonitorGivesNoNames) {
  std::vector<std::vector<int>> leading;
  add(leading, 10, {1});
  add(leading, 10, {2});
  const LabelEvidence samples = evidence_from_scores(scores_with(leading, 20, 13));
  const std::vector<int> parts = parts_of({10, 10});
  std::stop_source stop;
  stop.request_stop();
  Monitor monitor(stop.get_token());
  NamingInput input;
  input.samples = &samples;
  input.parts = parts;
  input.num_parts = 2;
  for (const auto& labels : name_parts(input, {}, monitor)) EXPECT_TRUE(labels.empty());
}

TEST(Naming, OneSampleIsDescribedByWhatTheOthersLack) {
  std::vector<std::vector<int>> leading;
  add(leading, 1, {9, 4});
  add(leading, 19, {9, 2});
  const std::vector<PartLabel> labels =
      name_sample(evidence_from_scores(scores_with(leading, 40, 14)), 0);
  ASSERT_FALSE(labels.empty());
  EXPECT_EQ(labels[0].label, 4);
  EXPECT_EQ(labels[0].sure, 1);
  EXPECT_TRUE(name_sample(evidence_from_scores(Matrix<float>(1, 3)), 0).empty());
}

TEST(Naming, WrongInputsAreNamed) {
  const LabelEvidence samples = evidence_from_scores(Matrix<float>(4, 3));
  const auto message = [&](const std::vector<int>& parts, const std::vector<int>& classes,
                           const LabelEvidence* context) -> std::string {
    try {
      names_of(samples, parts, 2, context, classes);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  const LabelEvidence other = evidence_from_scores(Matrix<float>(4, 7));
  EXPECT_EQ(message({0, 1}, {}, nullptr),
            "there are 2 labels and scores of 4 samples: they must match");
  EXPECT_EQ(message({0, 1, 2, 0}, {}, nullptr),
            "a part is 2, must be -1 or below the number of parts, 2");
  EXPECT_EQ(message({0, 1, 1, 0}, {0}, nullptr),
            "classes has 1 entry, there are 2 parts: one class per part");
  EXPECT_EQ(message({0, 1, 1, 0}, {}, &other),
            "the context has scores of 7 labels, the samples of 3");
}

}  // namespace
}  // namespace milieu

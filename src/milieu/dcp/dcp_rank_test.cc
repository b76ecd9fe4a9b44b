// SPDX-License-Identifier: Apache-2.0
#include "milieu/dcp/dcp_rank.h"

#include <map>
#include <stop_token>

#include "milieu/base/random.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

// Four balls at the corners of a square; contexts between left and right, twice, between upper and
// lower, and far away.
struct Square {
  Matrix<float> points{80, 2};
  std::vector<Matrix<float>> contexts;
  std::vector<DcpContext> candidates;
};

Matrix<float> ball(double x, double y, double wide, double high, Random& random) {
  Matrix<float> points(30, 2);
  for (int64_t i = 0; i < 30; ++i) {
    points(i, 0) = static_cast<float>(x + wide * random.normal());
    points(i, 1) = static_cast<float>(y + high * random.normal());
  }
  return points;
}

Square make_square() {
  Random random(4);
  Square s;
  for (int64_t i = 0; i < 80; ++i) {
    s.points(i, 0) = static_cast<float>((i % 2 == 0 ? -5 : 5) + 0.5 * random.normal());
    s.points(i, 1) = static_cast<float>((i % 4 < 2 ? -5 : 5) + 0.5 * random.normal());
  }
  s.contexts = {ball(0, 0, 5, 0.3, random), ball(0, 0, 0.3, 5, random),
                ball(200, 200, 1, 1, random), ball(0.5, 0, 0.3, 5, random)};
  const char* names[] = {"flat", "upright", "far", "upright2"};
  for (size_t i = 0; i < s.contexts.size(); ++i) s.candidates.push_back({names[i], s.contexts[i]});
  return s;
}

TEST(DcpRank, ContextsWithTheSplitOfTheBestComeFirst_issue26) {
  Square s = make_square();
  s.candidates.erase(s.candidates.begin() + 2);          // without the far one
  for (int64_t i = 0; i < 80; ++i) s.points(i, 0) *= 2;  // the upright contexts' split is clearer
  for (Matrix<float>& context : s.contexts)
    for (int64_t i = 0; i < context.rows(); ++i) context(i, 0) *= 2;
  const DcpRanking ranking = rank_contexts({s.points}, s.candidates, {});
  ASSERT_EQ(ranking.contexts.size(), 3u);
  EXPECT_EQ(ranking.contexts[0].split.name.substr(0, 7), "upright");
  EXPECT_EQ(ranking.contexts[1].split.name.substr(0, 7), "upright");
  EXPECT_EQ(ranking.contexts[2].split.name, "flat");
  EXPECT_EQ(ranking.contexts[0].match, 1);
  EXPECT_GT(ranking.contexts[1].match, 0.9);
  EXPECT_LT(ranking.contexts[2].match, 0.1);
  EXPECT_GT(ranking.contexts[0].split.stability, 0.9);
  for (int64_t i = 0; i < 80; ++i) EXPECT_EQ(ranking.contexts[0].split.labels[i], i % 2);
}

TEST(DcpRank, FirstResultIsTheFitWithTheFirstContext) {
  const Square s = make_square();
  const DcpRanking ranking = rank_contexts({s.points}, s.candidates, {});
  ASSERT_TRUE(ranking.first_result.has_value());
  const DcpContextSplit& first = ranking.contexts[0].split;
  EXPECT_EQ(ranking.first_result->labels, first.labels);
  EXPECT_EQ(ranking.first_result->summary.objective, first.objective);
  EXPECT_EQ(predict(ranking.first_result->model, s.points), first.labels);
}

TEST(DcpRank, NumberOfThreadsChangesNothing) {
  const Square s = make_square();
  DcpOptions options;
  options.num_threads = 1;
  const DcpRanking one = rank_contexts({s.points}, s.candidates, options);
  options.num_threads = 2;
  const DcpRanking two = rank_contexts({s.points}, s.candidates, options);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(one.contexts[i].split.name, two.contexts[i].split.name);
    EXPECT_EQ(one.contexts[i].split.objective, two.contexts[i].split.objective);
    EXPECT_EQ(one.contexts[i].consensus, two.contexts[i].consensus);
  }
}

TEST(DcpRank, KnownSplitsAreNotRunAgain) {
  const Square s = make_square();
  std::map<std::string, DcpContextSplit> kept;
  DcpRankHooks hooks;
  hooks.on_split = [&](const DcpContextSplit& split) { kept[split.name] = split; };
  const DcpRanking whole = rank_contexts({s.points}, s.candidates, {}, silent_monitor(), hooks);
  ASSERT_EQ(kept.size(), 4u);
  kept.erase("flat");
  int num_run = 0;
  hooks.find_known = [&](const std::string& name) -> const DcpContextSplit* {
    const auto found = kept.find(name);
    return found == kept.end() ? nullptr : &found->second;
  };
  hooks.on_split = [&](const DcpContextSplit& split) {
    ++num_run;
    EXPECT_EQ(split.name, "flat");
  };
  const DcpRanking resumed = rank_contexts({s.points}, s.candidates, {}, silent_monitor(), hooks);
  EXPECT_EQ(num_run, 1);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(resumed.contexts[i].split.name, whole.contexts[i].split.name);
  EXPECT_FALSE(resumed.first_result.has_value());  // "flat" is not the first
}

TEST(DcpRank, StoppedRankingHoldsNothingUnfinished) {
  const Square s = make_square();
  std::stop_source source;
  source.request_stop();
  Monitor monitor(source.get_token());
  const DcpRanking ranking = rank_contexts({s.points}, s.candidates, {}, monitor);
  EXPECT_EQ(ranking.termination, Termination::Cancelled);
  EXPECT_TRUE(ranking.contexts.empty());
}

// The clearest split of all separates a single sample; parts come first, whatever their separation.
TEST(DcpRank, SplitsThatFindOutliersComeLast_issue24) {
  const Square s = make_square();
  const auto split_of = [](const std::string& name, int size_of_first, double separation) {
    DcpContextSplit split;
    split.name = name;
    split.labels.assign(80, 1);
    std::fill_n(split.labels.begin(), size_of_first, 0);
    split.separation = separation;
    return split;
  };
  const std::map<std::string, DcpContextSplit> known = {{"flat", split_of("flat", 1, 9)},
                                                        {"upright", split_of("upright", 40, 2)},
                                                        {"far", split_of("far", 30, 1)},
                                                        {"upright2", split_of("upright2", 3, 5)}};
  DcpRankHooks hooks;
  hooks.find_known = [&](const std::string& name) { return &known.at(name); };
  const auto order = [&](const DcpOptions& options) {
    std::string names;
    for (const DcpRankedContext& one :
         rank_contexts({s.points}, s.candidates, options, silent_monitor(), hooks).contexts)
      names += one.split.name + (one.is_outlier_split ? "! " : " ");
    return names;
  };
  DcpOptions options;
  EXPECT_EQ(order(options).substr(0, 12), "upright far ");
  options.min_share = 0;  // as with --preset margin: a part of a single sample is still none
  EXPECT_EQ(order(options).substr(0, 12), "upright far ");
  EXPECT_NE(order(options).find("flat! "), std::string::npos);
  EXPECT_NE(order(options).find("upright2! "), std::string::npos);
  options.min_share = 0.9;  // balance wanted: 30 of an even 40 are too few
  EXPECT_EQ(order(options).substr(0, 8), "upright ");
  EXPECT_NE(order(options).find("far! "), std::string::npos);
}

TEST(DcpRank, NothingToRankIsRefused) {
  const Square s = make_square();
  EXPECT_THAT(message_of([&] { rank_contexts({s.points}, {}, {}); }),
              ::testing::HasSubstr("no contexts"));
}

// Samples of weight 0 far to the right would make "left or right" the clearest split.
TEST(DcpRank, WeightsCountInEverySplit_issue30) {
  const Square s = make_square();
  std::vector<double> weights(80, 1.0);
  Matrix<float> light(100, 2), heavy(80, 2);
  for (int64_t i = 0; i < 80; ++i) {
    std::copy_n(s.points.row(i), 2, light.row(i));
    std::copy_n(s.points.row(i), 2, heavy.row(i));
  }
  for (int64_t i = 80; i < 100; ++i) {
    light(i, 0) = 60;
    light(i, 1) = static_cast<float>(i - 90);
    weights.push_back(0);
  }
  DcpInput weighted{light};
  weighted.weights = weights;
  const DcpRanking without = rank_contexts({heavy}, s.candidates, {});
  const DcpRanking with = rank_contexts(weighted, s.candidates, {});
  const DcpRanking ignored = rank_contexts({light}, s.candidates, {});
  const auto split_of = [](const DcpRanking& ranking, const std::string& name) {
    for (const DcpRankedContext& one : ranking.contexts)
      if (one.split.name == name)
        return std::vector<int>(one.split.labels.begin(), one.split.labels.begin() + 80);
    return std::vector<int>();
  };
  EXPECT_EQ(split_of(with, "upright"), split_of(without, "upright"));
  EXPECT_NE(split_of(ignored, "upright"), split_of(without, "upright"));
}

TEST(DcpRank, ConstraintsHoldInEverySplit_issue30) {
  const Square s = make_square();
  std::vector<int> memberships(80, -1);
  memberships[0] = 1;
  memberships[1] = 0;
  const std::vector<DcpLink> apart = {{2, 3}}, together = {{4, 5}};
  DcpInput input{s.points};
  input.memberships = memberships;
  input.cannot_links = apart;
  input.must_links = together;
  const DcpRanking ranking = rank_contexts(input, s.candidates, {});
  ASSERT_EQ(ranking.contexts.size(), 4u);
  for (const DcpRankedContext& one : ranking.contexts) {
    EXPECT_EQ(one.split.labels[0], 1) << one.split.name;
    EXPECT_EQ(one.split.labels[1], 0) << one.split.name;
    EXPECT_NE(one.split.labels[2], one.split.labels[3]) << one.split.name;
    EXPECT_EQ(one.split.labels[4], one.split.labels[5]) << one.split.name;
  }
}

// Half of the samples cannot have parts of these sizes; the ranking once ended with an error.
TEST(DcpRank, SizesInSamplesAreThoseOfTheWholeSet_issue30) {
  const Square s = make_square();
  DcpOptions options;
  options.sizes = "50,30";
  const DcpRanking ranking = rank_contexts({s.points}, s.candidates, options);
  ASSERT_EQ(ranking.contexts.size(), 4u);
  for (const DcpRankedContext& one : ranking.contexts)
    EXPECT_EQ(std::ranges::count(one.split.labels, 0), 50) << one.split.name;
}

// A matrix of inner products gives what the linear kernel gives.
TEST(DcpRank, PrecomputedKernelRanksAsItsFunctionDoes_issue30) {
  const Square s = make_square();
  DcpOptions options;
  options.whiten = "none";
  options.center = false;
  options.scale = false;
  options.init = DcpInit::Random;
  const DcpRanking linear = rank_contexts({s.points}, s.candidates, options);
  std::vector<Matrix<float>> kernels;
  std::vector<DcpContext> candidates;
  kernels.reserve(2 * s.candidates.size());
  const auto products = [](FloatView a, FloatView b, FloatView c) {
    Matrix<float> out(a.rows(), b.rows() + c.rows());
    for (int64_t i = 0; i < a.rows(); ++i)
      for (int64_t j = 0; j < out.cols(); ++j) {
        const float* other = j < b.rows() ? b.row(j) : c.row(j - b.rows());
        out(i, j) = a(i, 0) * other[0] + a(i, 1) * other[1];
      }
    return out;
  };
  for (const DcpContext& one : s.candidates) {
    kernels.push_back(products(s.points, s.points, one.points));
    kernels.push_back(products(one.points, s.points, one.points));
    candidates.push_back({one.name, kernels[kernels.size() - 1], kernels[kernels.size() - 2]});
  }
  options.kernel = DcpKernel::Precomputed;
  const DcpRanking given = rank_contexts({s.points}, candidates, options);
  ASSERT_EQ(given.contexts.size(), linear.contexts.size());
  for (size_t i = 0; i < given.contexts.size(); ++i) {
    EXPECT_EQ(given.contexts[i].split.name, linear.contexts[i].split.name);
    EXPECT_EQ(given.contexts[i].split.labels, linear.contexts[i].split.labels);
    EXPECT_GT(given.contexts[i].split.stability, 0.8);
  }
}

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// The steps of nested EM against plain formulas on dense matrices, on thousands of random problems.
#include "milieu/cac/cac_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "milieu/base/random.h"
#include "milieu/linalg/distance.h"

namespace milieu {
namespace {

using internal::CacProblem;
using internal::CacState;
using internal::NestedEm;

struct RandomCase {
  std::vector<Matrix<float>> views;
  ContextGroups groups;
  CacOptions options;
  CacState state;
  double lambda = 0;
};

// Small numbers, many ties: coordinates are often whole, groups may be empty, repeat, be weighted.
RandomCase make_case(uint64_t seed, CacTransactions transactions) {
  Random random(seed);
  RandomCase c;
  const int64_t n = 1 + random.uniform_index(30);
  const auto num_views = static_cast<int>(1 + random.uniform_index(3));
  const bool is_whole = random.bernoulli(0.5), is_weighted = random.bernoulli(0.3);
  for (int v = 0; v < num_views; ++v) {
    Matrix<float> points(n, 1 + random.uniform_index(4));
    for (int64_t i = 0; i < points.size(); ++i)
      points.data()[i] = static_cast<float>(is_whole ? random.uniform_index(4) : random.normal());
    c.views.push_back(std::move(points));
  }
  c.groups.num_samples = n;
  const int64_t num_groups = 1 + random.uniform_index(20);
  for (int64_t g = 0; g < num_groups; ++g) {
    for (const int64_t i : random.sample_without_replacement(n, random.uniform_index(n + 1) / 2)) {
      c.groups.members.push_back(static_cast<int>(i));
      if (is_weighted) c.groups.weights.push_back(static_cast<float>(random.uniform(0.1, 3)));
    }
    c.groups.offsets.push_back(static_cast<int64_t>(c.groups.members.size()));
    if (is_weighted) c.groups.group_weights.push_back(random.uniform(0, 2));
  }
  c.options.num_words = static_cast<int>(1 + random.uniform_index(std::min<int64_t>(n, 20)));
  c.options.num_phrases =
      static_cast<int>(1 + random.uniform_index(std::min<int64_t>(num_groups, 9)));
  c.options.scaling = random.bernoulli(0.5) ? CacScaling::Raw : CacScaling::UnitVariance;
  c.options.transactions = transactions;
  c.options.reseed = random.bernoulli(0.5);
  c.options.num_threads = 1;
  c.lambda = random.bernoulli(0.1) ? 0 : std::exp(random.uniform(-4, 4));
  return c;
}

CacProblem problem_of(const RandomCase& c) {
  CacInput input;
  for (const Matrix<float>& view : c.views) input.views.push_back(view);
  input.groups = &c.groups;
  return internal::make_cac_problem(input, c.options, silent_monitor());
}

CacState random_state(const RandomCase& c, const CacProblem& problem, Random random) {
  CacState state;
  for (size_t v = 0; v < problem.views.size(); ++v) {
    const auto& view = problem.views[v];
    Matrix<float> prototypes(view.num_words(), view.points().cols());
    for (int m = 0; m < view.num_words(); ++m)
      std::copy_n(c.views[v].row(random.uniform_index(view.size())), prototypes.cols(),
                  prototypes.row(m));
    state.prototypes.push_back(std::move(prototypes));
    for (int64_t i = 0; i < view.size(); ++i)
      state.words.push_back(view.first_word +
                            static_cast<int>(random.uniform_index(view.num_words())));
  }
  for (int64_t g = 0; g < problem.groups.num_groups(); ++g)
    state.phrases.push_back(static_cast<int>(random.uniform_index(problem.num_phrases)));
  for (int i = 0; i < problem.num_phrases * problem.num_words; ++i)
    state.compositions.push_back(random.bernoulli(0.4));
  return state;
}

// J by its definition [Yuan08, Eq. 3], with T = R Q written out.
struct Objective {
  double words = 0, context = 0;
};
Objective objective_of(const CacProblem& problem, const CacState& state) {
  Objective j;
  for (size_t v = 0; v < problem.views.size(); ++v) {
    const auto& view = problem.views[v];
    for (int64_t i = 0; i < view.size(); ++i)
      j.words += view.scale *
                 squared_distance(view.points().row_span(i),
                                  state.prototypes[v].view().row_span(
                                      state.words[view.first_primitive + i] - view.first_word));
  }
  for (int64_t g = 0; g < problem.groups.num_groups(); ++g) {
    std::vector<double> t(static_cast<size_t>(problem.num_words));
    for (int64_t e = problem.groups.offsets[g]; e < problem.groups.offsets[g + 1]; ++e) {
      double& count = t[state.words[problem.groups.members[e]]];
      count = problem.is_binary ? 1 : count + problem.groups.member_weight(e);
    }
    double distance = 0;
    for (int m = 0; m < problem.num_words; ++m) {
      const double u = state.compositions[state.phrases[g] * problem.num_words + m];
      distance += t[m] + u - 2 * t[m] * u;
    }
    j.context += problem.groups.group_weight(g) * distance;
  }
  return j;
}

void expect_objective(const CacProblem& problem, const NestedEm& em) {
  const Objective j = objective_of(problem, em.state());
  ASSERT_NEAR(em.words_objective(), j.words, 1e-9 * (1 + j.words));
  ASSERT_NEAR(em.context_sum(), j.context, 1e-9 * (1 + std::abs(j.context)));
}

// No single primitive (or group) can lower J by another label, all others staying.
void expect_words_are_lowest(const CacProblem& problem, const NestedEm& em, double lambda) {
  const Objective best = objective_of(problem, em.state());
  const double size = 1e-9 * (1 + best.words + lambda * std::abs(best.context));
  for (const auto& view : problem.views)
    for (int64_t p = view.first_primitive; p < view.first_primitive + view.size(); ++p)
      for (int m = 0; m < view.num_words(); ++m) {
        CacState other = em.state();
        other.words[p] = view.first_word + m;
        const Objective j = objective_of(problem, other);
        ASSERT_GE(j.words + lambda * j.context, best.words + lambda * best.context - size);
      }
}

void expect_phrases_are_lowest(const CacProblem& problem, const NestedEm& em) {
  const Objective best = objective_of(problem, em.state());
  for (int64_t g = 0; g < problem.groups.num_groups(); ++g)
    for (int k = 0; k < problem.num_phrases; ++k) {
      CacState other = em.state();
      other.phrases[g] = k;
      ASSERT_GE(objective_of(problem, other).context, best.context - 1e-9);
    }
}

void expect_vote_is_lowest(const CacProblem& problem, const NestedEm& em) {
  const Objective best = objective_of(problem, em.state());
  for (size_t i = 0; i < em.state().compositions.size(); ++i) {
    CacState other = em.state();
    other.compositions[i] ^= 1;
    ASSERT_GE(objective_of(problem, other).context, best.context - 1e-9);
  }
}

class Fall {
 public:
  explicit Fall(const NestedEm& em)
      : before_(em.objective()),
        size_(std::abs(em.words_objective()) + std::abs(em.context_objective())) {}
  void expect(const NestedEm& em, const char* step) {
    ASSERT_LE(em.objective(), before_ + 1e-9 * size_) << step;
    before_ = em.objective();
  }

 private:
  double before_, size_;
};

void check_steps(uint64_t seed, CacTransactions transactions, bool in_depth) {
  SCOPED_TRACE(seed);
  const RandomCase c = make_case(seed, transactions);
  const CacProblem problem = problem_of(c);
  NestedEm em(problem, c.lambda, random_state(c, problem, Random(seed).child(1)));
  expect_objective(problem, em);
  Fall fall(em);
  Monitor& monitor = silent_monitor();
  for (int round = 0; round < 3; ++round) {
    for (int inner = 0; inner < 2; ++inner) {
      em.update_phrases(monitor);
      fall.expect(em, "phrases");
      expect_objective(problem, em);
      if (in_depth) expect_phrases_are_lowest(problem, em);
      em.update_words(monitor);
      fall.expect(em, "words");
      expect_objective(problem, em);
      if (in_depth && transactions == CacTransactions::Counts)
        expect_words_are_lowest(problem, em, c.lambda);
    }
    em.update_prototypes(monitor);
    fall.expect(em, "prototypes");
    em.update_compositions();
    fall.expect(em, "compositions");
    expect_objective(problem, em);
    if (in_depth && !c.options.reseed) expect_vote_is_lowest(problem, em);
  }
}

TEST(CacSteps, NoHalfStepRaisesTheObjective) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    check_steps(seed, CacTransactions::Counts, false);
    if (HasFatalFailure()) return;
  }
}

TEST(CacSteps, NoHalfStepOnSetsOfWordsRaisesTheObjective) {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    check_steps(seed, CacTransactions::Binary, false);
    if (HasFatalFailure()) return;
  }
}

TEST(CacSteps, EveryHalfStepIsAnExactMinimum) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    check_steps(seed, CacTransactions::Counts, true);
    check_steps(seed, CacTransactions::Binary, true);
    if (HasFatalFailure()) return;
  }
}

// Labels that tie with another keep their place: duplicates of words and of phrases move nothing.
TEST(CacSteps, TiesKeepTheLabel) {
  Matrix<float> points(2, 1);
  ContextGroups groups;
  groups.num_samples = 2;
  groups.members = {0, 1};
  groups.offsets = {0, 2};
  CacInput input;
  input.views = {points};
  input.groups = &groups;
  CacOptions options;
  options.num_words = 2;
  options.num_phrases = 1;
  const CacProblem problem = internal::make_cac_problem(input, options, silent_monitor());
  CacState state;
  state.prototypes.emplace_back(2, 1);
  state.words = {1, 0};
  state.compositions = {1, 1};
  state.phrases = {0};
  NestedEm em(problem, 1, state);
  em.update_words(silent_monitor());
  EXPECT_THAT(em.state().words, ::testing::ElementsAre(1, 0));
}

TEST(CacSteps, AStoppedStepChangesNothing) {
  const RandomCase c = make_case(5, CacTransactions::Counts);
  const CacProblem problem = problem_of(c);
  const CacState state = random_state(c, problem, Random(9));
  NestedEm em(problem, c.lambda, state);
  Monitor stopped;
  stopped.set_time_limit(0);
  const double before = em.objective();
  EXPECT_FALSE(em.update_phrases(stopped));
  EXPECT_FALSE(em.update_words(stopped));
  EXPECT_EQ(em.state().words, state.words);
  EXPECT_EQ(em.state().phrases, state.phrases);
  EXPECT_EQ(em.objective(), before);
}

// More members, and more groups around a primitive, than a byte counts.
TEST(CacSteps, LongListsAreCountedInFull) {
  constexpr int kCount = 300;
  Matrix<float> points(kCount, 1);
  for (int i = 0; i < kCount; ++i) points(i, 0) = i < kCount / 2 ? 0.0f : 1.0f;
  ContextGroups groups;
  groups.num_samples = kCount;
  const auto close_group = [&] {
    groups.offsets.push_back(static_cast<int64_t>(groups.members.size()));
  };
  for (int i = 0; i < kCount; ++i) groups.members.push_back(i);
  close_group();
  for (int g = 0; g < kCount; ++g) {  // the first primitive is in all of them
    groups.members.push_back(0);
    close_group();
  }
  CacInput input;
  input.views = {points};
  input.groups = &groups;
  CacOptions options;
  options.num_words = 2;
  options.num_phrases = 2;
  options.num_threads = 1;
  const CacProblem problem = internal::make_cac_problem(input, options, silent_monitor());
  CacState state;
  state.prototypes.emplace_back(2, 1);
  state.prototypes[0](1, 0) = 1;
  state.words.assign(kCount, 0);
  state.phrases.assign(kCount + 1, 1);
  state.compositions = {1, 0, 0, 1};  // phrase 0 = word 0, phrase 1 = word 1
  NestedEm em(problem, 1e-6, state);
  EXPECT_EQ(em.context_sum(), (kCount + 1) + 2 * kCount);
  ASSERT_TRUE(em.update_phrases(silent_monitor()));
  EXPECT_THAT(em.state().phrases, testing::Each(0));
  EXPECT_EQ(em.context_sum(), 1 - kCount);
  ASSERT_TRUE(em.update_words(silent_monitor()));  // the second half leaves word 0
  EXPECT_EQ(em.context_sum(), kCount + 1 - 2 * (kCount / 2));
}

}  // namespace
}  // namespace milieu

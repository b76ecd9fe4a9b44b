// SPDX-License-Identifier: Apache-2.0
// Costs of exemplars that depend on weights: against the general framework, differences, and sets
// in which no single penalty will do; signed features; margins of 0; callers' regularisers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/exemplar/learn/cluster_example_internal.h"
#include "milieu/exemplar/learn/cluster_graph.h"
#include "milieu/exemplar/learn/learn.h"
#include "milieu/metrics/metrics.h"

namespace milieu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Maker = decltype(&internal::make_cluster_example);

Matrix<float> random_matrix(int64_t rows, int64_t cols, uint64_t seed) {
  Random random(seed);
  Matrix<float> made(rows, cols);
  for (int64_t i = 0; i < made.size(); ++i) made.data()[i] = static_cast<float>(random.normal());
  return made;
}

struct Case {
  Matrix<float> points = random_matrix(14, 3, 7);
  Matrix<float> own = random_matrix(14, 2, 8);
  std::vector<int> labels = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1};

  std::unique_ptr<CrfExample> example(Maker make, bool learn_penalty) const {
    return make(make_own_cost_features(make_coordinate_features(points), own, false), labels,
                {1, 1, 1, 0.5, 2}, {0.8, 1.1, 3.0, learn_penalty, 1}, silent_monitor());
  }
};

CrfTrainResult train(CrfExample& example, std::vector<double> start, double dual_step, int rounds) {
  CrfTrainInput input;
  input.examples = {&example};
  input.start = std::move(start);
  CrfTrainOptions options;
  options.constraint = CrfConstraint::Free;
  options.max_iterations = rounds;
  options.dual_step = dual_step;
  options.num_threads = 1;
  return train_latent_crf(input, options);
}

// d_qq = w . f_qq [Komodakis11, Eq. 10 and Lemma 1] three times: by unaries of the general graph,
// by the exact special code, by the fast one.
TEST(LearnOwn, CostsOfExemplarsTakeTheFrameworksPath_issue30) {
  for (const bool learn_penalty : {false, true}) {
    const Case c;
    Matrix<float> scaled = c.own;  // what the special code does by its scales
    for (int64_t q = 0; q < 14; ++q) scaled(q, 0) *= 0.5f, scaled(q, 1) *= 2;
    std::vector<double> start = {0.95, 1.05, 1.15, 0.25, -0.15};
    if (learn_penalty) start.push_back(3.0);
    const auto general =
        make_cluster_graph_example(c.points, c.labels, {0.8, 1.1, 3.0, learn_penalty, scaled}, 1);
    const auto exact = c.example(internal::make_exact_cluster_example, learn_penalty);
    const auto fast = c.example(internal::make_cluster_example, learn_penalty);
    const CrfTrainResult a = train(*general, start, 0.5, 50), b = train(*exact, start, 1, 50);
    for (size_t i = 0; i < a.rounds.size(); ++i) {
      EXPECT_NEAR(a.rounds[i].energy, b.rounds[i].energy, 1e-12);
      EXPECT_NEAR(a.rounds[i].bound, b.rounds[i].bound, 1e-12);
    }
    for (size_t t = 0; t < start.size(); ++t) EXPECT_NEAR(a.weights[t], b.weights[t], 1e-12);
    EXPECT_GT(std::abs(a.weights[3] - start[3]) + std::abs(a.weights[4] - start[4]), 1e-3);
    const CrfTrainResult few =
                             train(*c.example(internal::make_exact_cluster_example, learn_penalty),
                                   start, 1, 5),
                         quick = train(*fast, start, 1, 5);
    for (size_t t = 0; t < start.size(); ++t) EXPECT_NEAR(few.weights[t], quick.weights[t], 1e-3);
  }
}

// Of energy - bound, while the latent exemplars and the duals stay.
TEST(LearnOwn, GradientIsTheSlopeOfTheLoss_issue30) {
  const Case c;
  const std::vector<double> w = {0.9, 1.0, 1.1, 0.2, -0.1, 3.0};
  const auto loss_at = [&](const std::vector<double>& at, std::vector<double>& gradient) {
    const auto example = c.example(internal::make_exact_cluster_example, true);
    example->complete(w);
    gradient.assign(6, 0.0);
    const CrfParts parts = example->descend(at, 0, gradient);
    return parts.energy - parts.bound;
  };
  std::vector<double> gradient, other;
  loss_at(w, gradient);
  for (size_t t = 0; t < 6; ++t) {
    std::vector<double> up = w, down = w;
    up[t] += 1e-6, down[t] -= 1e-6;
    EXPECT_NEAR(gradient[t], (loss_at(up, other) - loss_at(down, other)) / 2e-6, 1e-5);
  }
}

// At four corners: ten samples close together, a blurred one at -5 that belongs to them, and a
// cluster of two at 3. One penalty f for all must be below 2 * 9, or the two join the ten, and
// above 25, or the blurred one stands alone.
struct Blurred {
  Matrix<float> points, blur;  // n x 4 with the blur as last column, n x 1
  std::vector<int> labels;

  explicit Blurred(uint64_t seed) : points(52, 4), blur(52, 1) {
    Random random(seed);
    for (int p = 0; p < 52; ++p) {
      const int corner = p / 13, i = p % 13;
      const double offset = i < 10 ? 0 : i < 12 ? 3 : -5;
      points(p, 0) = static_cast<float>(offset + 0.1 * random.normal());
      points(p, 1) = static_cast<float>(8 * (corner % 2) + 0.1 * random.normal());
      points(p, 2) = static_cast<float>(8 * (corner / 2) + 0.1 * random.normal());
      points(p, 3) = blur(p, 0) = static_cast<float>(0.1 * random.uniform() + (i == 12));
      labels.push_back(2 * corner + (i == 10 || i == 11));
    }
  }
  FloatView place() const { return {points.data(), 52, 3, 4}; }
  LearnSet by_column() const { return {points, labels}; }
  LearnSet by_feature() const { return {place(), labels, {}, blur}; }
};

ExemplarLearnOptions plain_options() {
  ExemplarLearnOptions options;
  options.validations = 0;
  options.train.max_iterations = 3000;
  return options;
}

double accuracy(const ExemplarResult& found, const std::vector<int>& labels) {
  return compute_metrics(found.labels, labels).accuracy;
}

TEST(LearnOwn, BlurredSamplesBecomeDearExemplars_issue30) {
  const Blurred a(1), b(2), fresh(3);
  LearnInput alike;
  alike.sets = {{a.place(), a.labels}, {b.place(), b.labels}};
  const auto equal = learn_exemplar_distance(alike, plain_options());
  // At best the four blurred samples, or the four pairs, are wrong.
  EXPECT_LE(accuracy(fit_learned_exemplar(equal.model, fresh.place(), {}), fresh.labels),
            48.0 / 52);

  LearnInput columns;
  columns.sets = {a.by_column(), b.by_column()};
  columns.exemplar_columns = {3};
  const auto by_column = learn_exemplar_distance(columns, plain_options());
  check_learned_distance(by_column.model, "here");
  EXPECT_GT(by_column.model.exemplar_weights[0], 0);
  EXPECT_EQ(by_column.model.weights[3], 0);  // it is no coordinate any more
  EXPECT_EQ(accuracy(fit_learned_exemplar(by_column.model, fresh.points, {}), fresh.labels), 1);

  LearnInput features;
  features.sets = {a.by_feature(), b.by_feature()};
  features.exemplar_names = {"blur"};
  const auto by_feature = learn_exemplar_distance(features, plain_options());
  EXPECT_EQ(by_feature.model.exemplar_names, "blur");
  EXPECT_EQ(by_feature.model.exemplar_weights, by_column.model.exemplar_weights);
  const ExemplarResult found =
      fit_learned_exemplar(by_feature.model, fresh.place(), {}, silent_monitor(), {fresh.blur, {}});
  EXPECT_EQ(accuracy(found, fresh.labels), 1);
  EXPECT_THAT([&] { fit_learned_exemplar(by_feature.model, fresh.place(), {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("must be 52 x 1")));
  EXPECT_THAT(
      [&] {
        fit_learned_exemplar(equal.model, fresh.place(), {}, silent_monitor(), {fresh.blur, {}});
      },
      ThrowsMessage<InvalidArgument>(HasSubstr("the model has learned none")));
}

TEST(LearnOwn, GivenPenaltiesReplaceTheLearnedOnes_issue30) {
  const Blurred a(1), fresh(3);
  LearnInput input;
  input.sets = {{a.place(), a.labels}};
  const auto learned = learn_exemplar_distance(input, plain_options());
  std::vector<double> penalties;
  for (int p = 0; p < 52; ++p)
    penalties.push_back(learned.model.weights[0] * (fresh.blur(p, 0) > 0.5 ? 40 : 10));
  const ExemplarResult found =
      fit_learned_exemplar(learned.model, fresh.place(), {}, silent_monitor(), {{}, penalties});
  EXPECT_EQ(accuracy(found, fresh.labels), 1);
}

// One matrix: its distances and the costs of exemplars share a weight.
TEST(LearnOwn, DiagonalsHaveTheWeightOfTheirMatrix_issue30) {
  const auto matrix_of = [](const Blurred& set) {
    Matrix<float> d(52, 52);
    for (int p = 0; p < 52; ++p)
      for (int q = 0; q < 52; ++q)
        for (int t = 0; t < 3; ++t) d(p, q) += std::pow(set.points(p, t) - set.points(q, t), 2.0f);
    for (int q = 0; q < 52; ++q) d(q, q) = 40 * set.blur(q, 0);
    return d;
  };
  const Blurred a(1), fresh(3);
  const Matrix<float> d = matrix_of(a), e = matrix_of(fresh);
  const std::vector<FloatView> given = {e.view()};
  LearnInput input;
  input.sets = {{{}, a.labels, {d}}};
  ExemplarLearnOptions options = plain_options();
  const auto ignored = learn_exemplar_distance(input, options);
  EXPECT_LE(accuracy(fit_learned_exemplar(ignored.model, given, {}), fresh.labels), 48.0 / 52);
  options.diagonals = true;
  const auto used = learn_exemplar_distance(input, options);
  check_learned_distance(used.model, "here");
  const std::vector<double> penalties = exemplar_penalties(used.model, given, {});
  for (int p = 0; p < 52; ++p)
    EXPECT_NEAR(
        penalties[p],
        used.model.penalty + used.model.diagonal_factor[0] * used.model.weights[0] * e(p, p),
        1e-6 * std::abs(penalties[p]));
  EXPECT_EQ(accuracy(fit_learned_exemplar(used.model, given, {}), fresh.labels), 1);
}

// Similarities with a negative sign are distances but for a constant, which the penalty takes up.
struct Similar {
  Matrix<float> similar, noise;
  std::vector<int> labels;

  explicit Similar(uint64_t seed) : similar(30, 30), noise(random_matrix(30, 30, seed + 10)) {
    const Matrix<float> spread = random_matrix(30, 2, seed);
    const auto at = [&](int p, int t) { return (p % 3 == t) + 0.1 * spread(p, t); };
    for (int p = 0; p < 30; ++p) {
      labels.push_back(p % 3);
      for (int q = 0; q < 30; ++q)
        similar(p, q) = static_cast<float>(
            -std::exp(-2 * std::hypot(at(p, 0) - at(q, 0), at(p, 1) - at(q, 1))));
    }
  }
  std::vector<FloatView> matrices() const { return {similar.view(), noise.view()}; }
};

TEST(LearnOwn, SignedFeaturesAreLearnedAndUsed_issue30) {
  const Similar a(1), b(2), c(3), fresh(4);
  LearnInput input;
  for (const Similar* set : {&a, &b, &c}) input.sets.push_back({{}, set->labels, set->matrices()});
  ExemplarLearnOptions options;
  EXPECT_THAT([&] { learn_exemplar_distance(input, options); },
              ThrowsMessage<DataError>(HasSubstr("must be a finite distance of at least 0")));
  options.signed_features = true;
  const auto learned = learn_exemplar_distance(input, options);
  EXPECT_GT(learned.shares[0], 0.6);  // equal at the start
  const ExemplarResult found = fit_learned_exemplar(learned.model, fresh.matrices(), {});
  EXPECT_EQ(accuracy(found, fresh.labels), 1);
}

// Golden case G6 with one of the margins left out: the weight at which two groups just stay apart.
TEST(LearnOwn, MarginsOfZeroHaveTheGoldenWeight_issue30) {
  const int m = 6;
  const double d = 3;
  Matrix<float> points(2 * m, 1);
  std::vector<int> labels;
  for (int p = 0; p < 2 * m; ++p) {
    labels.push_back(p / m);
    points(p, 0) = static_cast<float>(p / m);
  }
  for (const auto& [alpha, beta] : {std::pair(0.0, 1.0), std::pair(1.0, 0.0)}) {
    ExemplarLearnOptions options;
    options.alpha = alpha;
    options.beta = beta;
    options.penalty = d;
    options.normalize = false;
    options.train.regularization = 0.02;  // below the slope of the loss left of the weight
    const auto result = learn_exemplar_distance({{{points, labels}}}, options);
    const double g = 2 * alpha * (1 - 1.0 / m), expected = beta + (d + alpha - g) / m;
    EXPECT_NEAR(result.model.weights[0], expected, 0.05 * expected) << alpha;
  }
}

// The library's l2 and simplex again, written by the caller: the same bits.
TEST(LearnOwn, PriceAndProjectionMayBeTheCallers_issue30) {
  const Blurred a(1);
  LearnInput input;
  input.sets = {a.by_column()};
  ExemplarLearnOptions options = plain_options();
  options.train.max_iterations = 50;
  options.metric = false;  // it is left out where weights may have any sign
  options.train.regularizer = CrfRegularizer::L2;
  options.train.constraint = CrfConstraint::Simplex;
  const auto given = learn_exemplar_distance(input, options);
  options.train.regularizer = CrfRegularizer::L1;
  options.train.constraint = CrfConstraint::Free;
  input.project = project_simplex;
  input.price = [](std::span<const double> w, std::span<double> slope) {
    double squares = 0;
    for (size_t t = 0; t < w.size(); ++t) {
      squares += w[t] * w[t] / 2;
      slope[t] = w[t];
    }
    return squares;
  };
  const auto own = learn_exemplar_distance(input, options);
  EXPECT_EQ(own.model.weights, given.model.weights);
  EXPECT_EQ(own.summary.trace, given.summary.trace);
}

TEST(LearnOwn, BadFeaturesAreNamed_issue30) {
  const Blurred a(1);
  const auto refuses = [&](LearnInput input, const ExemplarLearnOptions& options,
                           const char* part) {
    EXPECT_THAT([&] { learn_exemplar_distance(input, options); },
                ThrowsMessage<Error>(HasSubstr(part)));
  };
  LearnInput input;
  input.sets = {a.by_column()};
  input.exemplar_columns = {4};
  refuses(input, {}, "names column 4, the points have 4");
  input.exemplar_columns = {0, 1, 2, 3};
  refuses(input, {}, "names every column");
  input.exemplar_columns = {};
  ExemplarLearnOptions options;
  options.diagonals = true;
  refuses(input, options, "the sets are not matrices");
  Matrix<float> broken = a.blur;
  broken(7, 0) = NAN;
  input.sets[0].exemplar_features = broken;
  refuses(input, {}, "at row 7, column 0");
  input.sets[0].exemplar_features = FloatView(a.blur.data(), 51, 1);
  refuses(input, {}, "are 51 x 1, must be 52 x 1");
}

}  // namespace
}  // namespace milieu

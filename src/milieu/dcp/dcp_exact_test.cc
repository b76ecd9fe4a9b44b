// SPDX-License-Identifier: Apache-2.0
// Against the exhaustive optimum of tiny problems, found by an independent solver: the cost of a
// split is the sum of its parts' classifiers, so the classifiers of all subsets give the cost of
// all splits.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "milieu/base/random.h"
#include "milieu/dcp/dcp_cases_internal.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

namespace dcp_cases = internal::dcp_cases;
using dcp_cases::Case;
using dcp_cases::golden_options;
using internal::LossShape;

using Vector = std::array<double, 3>;

struct Tiny {
  std::vector<Vector> rows;  // samples, then context, with the bias
  int n = 0;
  double cost = 1;
};

double value_at(const Tiny& tiny, unsigned subset, const LossShape& loss, const Vector& w) {
  double sum = 0.5 * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  for (size_t i = 0; i < tiny.rows.size(); ++i) {
    const bool is_sample = static_cast<int>(i) < tiny.n;
    if (is_sample && !(subset >> i & 1)) continue;
    const Vector& x = tiny.rows[i];
    const double f = w[0] * x[0] + w[1] * x[1] + w[2] * x[2];
    sum += tiny.cost * loss.value(is_sample ? 1 - f : 1 + f);
  }
  return sum;
}

// -H^-1 g for a symmetric positive 3 x 3 matrix, by Cramer's rule.
Vector solve3(const std::array<Vector, 3>& h, const Vector& g) {
  const auto det = [](const Vector& a, const Vector& b, const Vector& c) {
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
  };
  const double all = det(h[0], h[1], h[2]);
  return {-det(g, h[1], h[2]) / all, -det(h[0], g, h[2]) / all, -det(h[0], h[1], g) / all};
}

// Damped Newton steps on a loss with a rounded corner.
Vector minimize(const Tiny& tiny, unsigned subset, const LossShape& loss, Vector w) {
  double value = value_at(tiny, subset, loss, w);
  for (int step = 0; step < 60; ++step) {
    Vector g = w;
    std::array<Vector, 3> h{Vector{1, 0, 0}, Vector{0, 1, 0}, Vector{0, 0, 1}};
    for (size_t i = 0; i < tiny.rows.size(); ++i) {
      const bool is_sample = static_cast<int>(i) < tiny.n;
      if (is_sample && !(subset >> i & 1)) continue;
      const Vector& x = tiny.rows[i];
      const double y = is_sample ? 1 : -1;
      const double v = 1 - y * (w[0] * x[0] + w[1] * x[1] + w[2] * x[2]);
      const double slope = tiny.cost * loss.slope(v), bend = tiny.cost * loss.bend(v);
      for (int a = 0; a < 3; ++a) {
        g[a] -= y * slope * x[a];
        for (int b = 0; b < 3; ++b) h[a][b] += bend * x[a] * x[b];
      }
    }
    if (g[0] * g[0] + g[1] * g[1] + g[2] * g[2] < 1e-22 * (1 + value)) break;
    const Vector direction = solve3(h, g);
    double length = 1, next = value;
    Vector trial = w;
    for (int half = 0; half < 40; ++half, length *= 0.5) {
      for (int a = 0; a < 3; ++a) trial[a] = w[a] + length * direction[a];
      next = value_at(tiny, subset, loss, trial);
      if (next < value) break;
    }
    if (!(next < value)) break;
    w = trial;
    value = next;
  }
  return w;
}

// The classifier of a subset. A hinge is approached by ever narrower corners.
double subset_cost(const Tiny& tiny, unsigned subset, const LossShape& loss) {
  if (loss.loss != DcpLoss::Hinge)
    return value_at(tiny, subset, loss, minimize(tiny, subset, loss, {0, 0, 0}));
  Vector w{0, 0, 0};
  for (double width = 0.3; width > 1e-8; width *= 0.2)
    w = minimize(tiny, subset, {DcpLoss::Huber, width}, w);
  return value_at(tiny, subset, loss, w);
}

// The least cost over all splits into at most `num_parts` parts; an empty part has its cost, too.
double exhaustive_optimum(const Tiny& tiny, int num_parts, const LossShape& loss) {
  const unsigned full = (1u << tiny.n) - 1;
  std::vector<double> costs(full + 1);
  for (unsigned s = 0; s <= full; ++s) costs[s] = subset_cost(tiny, s, loss);
  double best = std::numeric_limits<double>::infinity();
  for (unsigned s = 0; s <= full; ++s) {
    const unsigned rest = full & ~s;
    best = std::min(best, costs[s] + costs[rest] + (num_parts == 3 ? costs[0] : 0));
    for (unsigned t = rest; num_parts == 3 && t > 0; t = (t - 1) & rest)
      best = std::min(best, costs[s] + costs[t] + costs[rest & ~t]);
  }
  return best;
}

// A few samples around a few of the context, in the plane.
Case draw_case(int n, int m, Random& random) {
  Case c{Matrix<float>(n, 2), Matrix<float>(m, 2)};
  for (int64_t i = 0; i < c.points.size(); ++i)
    c.points.data()[i] = static_cast<float>(3 * random.normal());
  for (int64_t i = 0; i < c.context.size(); ++i)
    c.context.data()[i] = static_cast<float>(random.normal());
  return c;
}

Tiny to_tiny(const Case& c, double cost) {
  Tiny tiny{{}, static_cast<int>(c.points.rows()), cost};
  for (int64_t i = 0; i < c.points.rows(); ++i)
    tiny.rows.push_back({c.points(i, 0), c.points(i, 1), 1});
  for (int64_t i = 0; i < c.context.rows(); ++i)
    tiny.rows.push_back({c.context(i, 0), c.context(i, 1), 1});
  return tiny;
}

// 200 problems in all, of 5 to 12 samples.
void expect_optimum(int num_parts, DcpLoss loss, int num_problems) {
  constexpr double kCosts[] = {0.1, 1, 10};
  for (int problem = 0; problem < num_problems; ++problem) {
    SCOPED_TRACE(problem);
    Random random = Random(17).child(static_cast<uint64_t>(problem));
    const int n = problem == 0 ? 12 : 5 + problem % (num_parts == 2 ? 6 : 5);
    const Case c = draw_case(n, 3 + problem % 5, random);
    DcpOptions options = golden_options(loss, kCosts[problem % 3], num_parts);
    options.min_part = 0;
    options.num_restarts = 60;
    const LossShape shape{loss, loss == DcpLoss::Huber ? options.huber_width : 0};
    const double best = exhaustive_optimum(to_tiny(c, options.cost), num_parts, shape);
    const DcpResult result = fit_dcp(c.input(), options);
    EXPECT_LE(result.gap, 1e-6 * result.summary.objective);
    // Above: the search failed. Below: one of the two solvers is wrong.
    EXPECT_NEAR(result.summary.objective, best, 1e-6 * best);
    EXPECT_THAT(result.summary.trace, NeverRises(0));
  }
}

TEST(DcpExact, TwoPartsSquaredHinge) { expect_optimum(2, DcpLoss::SquaredHinge, 34); }
TEST(DcpExact, TwoPartsHinge) { expect_optimum(2, DcpLoss::Hinge, 33); }
TEST(DcpExact, TwoPartsHuber) { expect_optimum(2, DcpLoss::Huber, 33); }
TEST(DcpExact, TwoPartsLogistic) { expect_optimum(2, DcpLoss::Logistic, 33); }
TEST(DcpExact, ThreePartsSquaredHinge) { expect_optimum(3, DcpLoss::SquaredHinge, 34); }
TEST(DcpExact, ThreePartsHinge) { expect_optimum(3, DcpLoss::Hinge, 33); }
TEST(DcpExact, ThreePartsHuber) { expect_optimum(3, DcpLoss::Huber, 33); }
TEST(DcpExact, ThreePartsLogistic) { expect_optimum(3, DcpLoss::Logistic, 33); }

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
// The fast passes against plain loops: gradients of few slopes, squares of rows, crossings.
#include <algorithm>
#include <cmath>

#include "milieu/base/random.h"
#include "milieu/dcp/dcp_cases_internal.h"
#include "milieu/dcp/dcp_search_internal.h"
#include "milieu/dcp/solve/dcp_loops.h"
#include "milieu/dcp/solve/dcp_pass_loops.h"
#include "milieu/dcp/solve/dcp_product_loops.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

namespace dcp_cases = internal::dcp_cases;
template <class T>
std::vector<T> draw(int64_t count, Random& random) {
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random.normal());
  return values;
}

std::vector<Isa> all_isas() {
  std::vector<Isa> isas{Isa::Baseline};
  if (best_isa() != Isa::Baseline) isas.push_back(Isa::V3);
  if (best_isa() == Isa::V4) isas.push_back(Isa::V4);
  return isas;
}

TEST(DcpPass, FewSlopesMakeTheGradientOfAll) {
  for (const Isa isa : all_isas())
    for (const int64_t d : {1, 15, 16, 33, 257})
      for (const double share : {0.0, 0.02, 0.3, 1.0}) {
        const ScopedIsa scope(isa);
        Random random(static_cast<uint64_t>(d));
        const int64_t count = 531, planes = 3, stride = 540;
        const std::vector<float> rows = draw<float>(count * d, random);
        std::vector<float> slopes = draw<float>(planes * stride, random);
        int64_t filled = 0;
        for (int64_t p = 0; p < planes; ++p)
          for (int64_t i = 0; i < count; ++i) {
            if (random.uniform() >= share) slopes[p * stride + i] = 0;
            filled += slopes[p * stride + i] != 0 ? 1 : 0;
          }
        EXPECT_EQ(MILIEU_SELECT_ISA(count_slopes)(slopes.data(), stride, planes, count), filled);
        std::vector<float> gradient(planes * d, 0.5f);
        MILIEU_SELECT_ISA(add_slopes)
        (slopes.data(), stride, planes, rows.data(), count, d, gradient.data());
        for (int64_t p = 0; p < planes; ++p)
          for (int64_t b = 0; b < d; ++b) {
            double wanted = 0.5;
            for (int64_t i = 0; i < count; ++i)
              wanted += static_cast<double>(slopes[p * stride + i]) * rows[i * d + b];
            ASSERT_NEAR(gradient[p * d + b], wanted, 2e-4) << d << " " << share;
          }
      }
}

// Every tail of vectors, rows and planes; nothing is written beside what was asked for.
TEST(DcpPass, ProductsOfPackedPlanesEqualPlainSums) {
  for (const Isa isa : all_isas())
    for (const int64_t d : {16, 17, 31, 32, 50, 129, 257})
      for (const int64_t planes : {1, 2, 3, 4, 5, 7, 13})
        for (const int64_t count : {1, 6, 263}) {
          const ScopedIsa scope(isa);
          Random random(static_cast<uint64_t>(100 * d + planes));
          const int64_t stride = count + 3, size = internal::packed_size(d);
          const std::vector<float> rows = draw<float>(count * d, random);
          const std::vector<double> w = draw<double>(planes * d, random);
          Matrix<float> packed(planes, size);
          for (int64_t p = 0; p < planes; ++p)
            MILIEU_SELECT_ISA(pack_plane)(w.data() + p * d, d, packed.row(p));
          std::vector<float> f(planes * stride, 7.0f);
          std::vector<double> total(planes * d, 0.5);
          MILIEU_SELECT_ISA(plane_products)
          (packed.data(), planes, rows.data(), count, d, f.data(), stride);
          MILIEU_SELECT_ISA(add_dense_slopes)
          (f.data(), stride, planes, rows.data(), count, d, total.data());
          std::vector<double> wanted_total(planes * d, 0.5);
          for (int64_t p = 0; p < planes; ++p)
            for (int64_t i = 0; i < stride; ++i) {
              double wanted = i < count ? 0 : 7;
              for (int64_t b = 0; b < d && i < count; ++b) wanted += w[p * d + b] * rows[i * d + b];
              ASSERT_NEAR(f[p * stride + i], wanted, 2e-4) << d << " " << planes << " " << i;
              for (int64_t b = 0; b < d && i < count; ++b)
                wanted_total[p * d + b] += static_cast<double>(f[p * stride + i]) * rows[i * d + b];
            }
          for (size_t j = 0; j < total.size(); ++j)
            ASSERT_NEAR(total[j], wanted_total[j], 5e-3) << d << " " << planes << " " << count;
        }
}

TEST(DcpPass, SquaresOfRowsEqualPlainSums) {
  for (const Isa isa : all_isas())
    for (const int64_t d : {1, 3, 4, 17, 36, 65})
      for (const int64_t count : {1, 63, 200}) {
        const ScopedIsa scope(isa);
        Random random(static_cast<uint64_t>(100 * d + count));
        const std::vector<double> rows = draw<double>(count * d, random);
        std::vector<double> weights = draw<double>(count, random);
        for (double& weight : weights) weight = std::abs(weight);
        std::vector<double> h(d * d, 1.0);
        MILIEU_SELECT_ISA(add_weighted_outer)(rows.data(), count, d, weights.data(), h.data());
        for (int64_t a = 0; a < d; ++a)
          for (int64_t b = 0; b <= a; ++b) {
            double wanted = 1;
            for (int64_t i = 0; i < count; ++i)
              wanted += weights[i] * rows[i * d + a] * rows[i * d + b];
            ASSERT_NEAR(h[a * d + b], wanted, 1e-11 * (1 + count)) << d << " " << count;
          }
      }
}

struct Crossed {
  internal::DcpProblem problem;
  std::vector<internal::Found> found;
};

Crossed make_crossed(const dcp_cases::Case& c, const DcpOptions& options, int num_restarts) {
  Crossed crossed;
  crossed.problem = internal::make_dcp_problem(c.input(), options, silent_monitor());
  Random random(9);
  for (int i = 0; i < num_restarts; ++i) {
    internal::Found found;
    found.planes = draw<double>(crossed.problem.num_parts * crossed.problem.d, random);
    internal::Lane lane;
    lane.planes = found.planes;
    lane.cost = crossed.problem.cost;
    lane.loss = crossed.problem.loss;
    internal::evaluate(crossed.problem, {&lane, 1}, silent_monitor());
    found.objective = lane.value;
    crossed.found.push_back(std::move(found));
  }
  return crossed;
}

// All crossings by brute force: the lowest one is the first, and every one is worth what is said.
TEST(DcpPass, CrossingsAreTheBestPairsOfPlanes) {
  for (const int num_parts : {2, 3}) {
    const dcp_cases::Case c = dcp_cases::ell();
    const Crossed s =
        make_crossed(c, dcp_cases::golden_options(DcpLoss::SquaredHinge, 1, num_parts), 4);
    const auto value_at = [&](std::span<const double> planes) {
      internal::Lane lane;
      lane.planes = planes;
      lane.cost = s.problem.cost;
      lane.loss = s.problem.loss;
      internal::evaluate(s.problem, {&lane, 1}, silent_monitor());
      return lane.value;
    };
    double lowest = 1e30;
    for (size_t base = 0; base < 4; ++base)
      for (int part = 0; part < num_parts; ++part)
        for (size_t other = 0; other < 4; ++other)
          for (int taken = 0; taken < num_parts && other != base; ++taken) {
            std::vector<double> planes = s.found[base].planes;
            std::copy_n(s.found[other].planes.begin() + taken * s.problem.d, s.problem.d,
                        planes.begin() + part * s.problem.d);
            lowest = std::min(lowest, value_at(planes));
          }
    const auto starts = internal::cross_restarts(s.problem, s.found, 4, silent_monitor());
    ASSERT_FALSE(starts.empty());
    EXPECT_NEAR(starts[0].objective, lowest, 1e-5 * lowest);
    for (size_t i = 0; i < starts.size(); ++i) {
      EXPECT_NEAR(value_at(starts[i].planes), starts[i].objective, 1e-5 * starts[i].objective);
      if (i > 0) {
        EXPECT_GT(starts[i].objective, starts[i - 1].objective);
      }
    }
  }
}

}  // namespace
}  // namespace milieu

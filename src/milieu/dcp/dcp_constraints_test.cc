// SPDX-License-Identifier: Apache-2.0
// The constrained assignment against all splits, and the messages for contradictions.
#include "milieu/dcp/dcp_constraints_internal.h"

#include <cmath>
#include <limits>

#include "milieu/base/random.h"
#include "milieu/dcp/dcp_cases_internal.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

namespace dcp_cases = internal::dcp_cases;
using internal::ConstraintList;
using internal::Constraints;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

bool obeys(const std::vector<int>& labels, int num_parts, const ConstraintList& list) {
  for (const auto& [i, part] : list.memberships)
    if (labels[i] != part) return false;
  for (const auto& [i, j] : list.must_links)
    if (labels[i] != labels[j]) return false;
  for (const auto& [i, j] : list.cannot_links)
    if (labels[i] == labels[j]) return false;
  std::vector<int64_t> sizes(num_parts);
  for (const int label : labels) ++sizes[label];
  for (int k = 0; k < num_parts && !list.sizes.empty(); ++k)
    if (sizes[k] < list.sizes.least[k] || sizes[k] > list.sizes.most[k]) return false;
  return true;
}

double total(const Matrix<double>& costs, const std::vector<int>& labels) {
  double sum = 0;
  for (size_t i = 0; i < labels.size(); ++i) sum += costs(static_cast<int64_t>(i), labels[i]);
  return sum;
}

double least_of_all_splits(const Matrix<double>& costs, const ConstraintList& list) {
  const int num_parts = static_cast<int>(costs.cols());
  std::vector<int> labels(costs.rows(), 0);
  double best = std::numeric_limits<double>::infinity();
  while (true) {
    if (obeys(labels, num_parts, list)) best = std::min(best, total(costs, labels));
    size_t at = 0;
    while (at < labels.size() && ++labels[at] == num_parts) labels[at++] = 0;
    if (at == labels.size()) return best;
  }
}

ConstraintList draw_list(int n, int num_parts, Random& random) {
  ConstraintList list;
  const auto draw_link = [&] {
    const int64_t i = random.uniform_index(n);
    return DcpLink{i, (i + 1 + random.uniform_index(n - 1)) % n};
  };
  for (int i = random.uniform_index(3); i > 0; --i)
    list.memberships.emplace_back(random.uniform_index(n),
                                  static_cast<int>(random.uniform_index(num_parts)));
  for (int i = random.uniform_index(4); i > 0; --i) list.must_links.push_back(draw_link());
  for (int i = random.uniform_index(4); i > 0; --i) list.cannot_links.push_back(draw_link());
  if (random.bernoulli(0.5))
    for (int k = 0; k < num_parts; ++k) {
      list.sizes.least.push_back(random.uniform_index(n / num_parts + 1));
      list.sizes.most.push_back(list.sizes.least.back() + random.uniform_index(n));
    }
  if (random.bernoulli(0.3)) list.must_links.clear(), list.cannot_links.clear();
  return list;
}

TEST(DcpConstraints, AssignmentIsTheBestOfAllSplits) {
  int num_feasible = 0, num_infeasible = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const int num_parts = 2 + static_cast<int>(seed % 3), n = num_parts == 2 ? 9 : 6;
    Matrix<double> costs(n, num_parts);
    for (int64_t i = 0; i < costs.size(); ++i) costs.data()[i] = random.uniform(0, 4);
    const ConstraintList list = draw_list(n, num_parts, random);
    if (list.empty()) continue;
    const Constraints constraints(n, num_parts, list);
    const auto labels = constraints.assign(costs);
    const double best = least_of_all_splits(costs, list);
    ASSERT_EQ(labels.has_value(), std::isfinite(best));
    EXPECT_TRUE(constraints.is_exact());
    ++(labels ? num_feasible : num_infeasible);
    if (!labels) continue;
    EXPECT_TRUE(obeys(*labels, num_parts, list));
    EXPECT_NEAR(total(costs, *labels), best, 1e-9);
  }
  EXPECT_GT(num_feasible, 100);
  EXPECT_GT(num_infeasible, 20);
}

std::string refusal(DcpInput input, const std::string& sizes = "", int num_parts = 2) {
  const dcp_cases::Case ell = dcp_cases::ell();
  input.points = ell.points;
  input.context = ell.context;
  DcpOptions options = margin_dcp_options();
  options.sizes = sizes;
  options.num_clusters = num_parts;
  return message_of([&] { fit_dcp(input, options); });
}

TEST(DcpConstraints, ContradictionsAreNamedAndNothingElse) {
  DcpInput input;
  const std::vector<DcpLink> chain{{7, 8}, {0, 1}, {1, 2}, {4, 5}}, apart{{0, 2}, {3, 9}};
  input.must_links = chain;
  input.cannot_links = apart;
  EXPECT_THAT(refusal(input),
              AllOf(HasSubstr("samples 0 and 1 together; samples 0 and 2 apart; samples 1 and 2 "
                              "together"),
                    Not(HasSubstr("7")), Not(HasSubstr("4"))));
}

TEST(DcpConstraints, OddCycleIsNamed) {
  DcpInput input;
  const std::vector<DcpLink> apart{{0, 1}, {1, 2}, {2, 0}, {5, 6}};
  input.cannot_links = apart;
  EXPECT_THAT(refusal(input),
              AllOf(HasSubstr("samples 0 and 1 apart"), HasSubstr("samples 1 and 2 apart"),
                    HasSubstr("samples 2 and 0 apart"), Not(HasSubstr("5"))));
  DcpOptions three = margin_dcp_options();
  three.num_clusters = 3;
  const dcp_cases::Case ell = dcp_cases::ell();
  input.points = ell.points;
  input.context = ell.context;
  const std::vector<int> labels = fit_dcp(input, three).labels;
  EXPECT_TRUE(labels[0] != labels[1] && labels[1] != labels[2] && labels[2] != labels[0]);
}

TEST(DcpConstraints, MembershipsAgainstSizesAreNamed) {
  DcpInput input;
  const std::vector<int> known{0, 0, 0, -1, -1, -1, -1, -1, -1, 1};
  input.memberships = known;
  EXPECT_THAT(refusal(input, "2,8"), HasSubstr("sizes at least 2, 8 and at most 2, 8"));
  EXPECT_THAT(refusal({}, "6-,6-"), HasSubstr("sizes"));
}

TEST(DcpConstraints, BrokenSizesAndLinksAreRefused) {
  EXPECT_THAT(refusal({}, "4,x"), HasSubstr("sizes is '4,x'"));
  EXPECT_THAT(refusal({}, "20%"), HasSubstr("20%-"));
  EXPECT_THAT(refusal({}, "1,2,3"), HasSubstr("has 3 items, must have 1"));
  EXPECT_THAT(refusal({}, "7-3"), HasSubstr("at least 7 and at most 3"));
  DcpInput input;
  const std::vector<DcpLink> outside{{0, 10}};
  input.must_links = outside;
  EXPECT_THAT(refusal(input), HasSubstr("must_links has the pair 0, 10"));
}

TEST(DcpConstraints, SharesAreRoundedInwards) {
  const internal::SizeLimits limits = internal::parse_sizes("25%-65%", 2, 10);
  EXPECT_EQ(limits.least, (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(limits.most, (std::vector<int64_t>{6, 6}));
}

}  // namespace
}  // namespace milieu

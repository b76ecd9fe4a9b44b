// SPDX-License-Identifier: Apache-2.0
// What must not depend on a lucky seed, on a hundred of them, and how soon a long run can be
// stopped. Slow: run by `make check-all`.
#include <chrono>
#include <cmath>
#include <stop_token>
#include <thread>

#include "methods.h"
#include "milieu/testing/matchers.h"

namespace milieu {
namespace {

TEST_P(Conformance, InvariantsHoldForAHundredSeeds) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const LabelledPoints data = make_overlapping(150, 2, 5, seed);
    const ConformanceOutcome outcome = fit(data.points, {.num_clusters = 5, .seed = seed});
    ASSERT_THAT(outcome.labels, HasLabelsBelow(static_cast<int>(outcome.summary.sizes.size()),
                                               method().may_leave_out));
    ASSERT_TRUE(std::isfinite(outcome.summary.objective));
    if (method().direction == TraceDirection::Falls) {
      ASSERT_THAT(outcome.summary.trace, NeverRises(1e-9));
    } else if (method().direction == TraceDirection::Rises) {
      ASSERT_THAT(outcome.summary.trace, NeverFalls(1e-9));
    }
    if (outcome.predict) {
      ASSERT_EQ(outcome.predict(data.points), outcome.labels);
    }
    const ConformanceOutcome two =
        fit(data.points, {.num_clusters = 5, .seed = seed, .num_threads = 2});
    ASSERT_EQ(two.labels, outcome.labels);
    ASSERT_THAT(two.summary.trace, HasBitsOf(outcome.summary.trace));
  }
}

TEST_P(Conformance, SeparatedClustersAreFoundForAHundredSeeds) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const LabelledPoints data = method().make_data(120, 3, 3, seed);
    ASSERT_THAT(fit(data.points, {.num_clusters = 3, .seed = seed}).labels,
                IsSamePartitionAs(data.labels))
        << seed;
  }
}

// The rule is 0.1 s; the limit here leaves room for a busy machine.
TEST_P(Conformance, LongRunStopsSoonAfterItIsAskedTo) {
  const LabelledPoints data = make_overlapping(method().num_samples * 10, 16, 30, 1);
  std::stop_source source;
  Monitor monitor(source.get_token());
  std::chrono::steady_clock::time_point asked;
  std::jthread timer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    asked = std::chrono::steady_clock::now();
    source.request_stop();
  });
  const ConformanceOutcome outcome =
      method().fit(data.points, {.num_clusters = 30, .num_threads = 2}, monitor);
  const auto returned = std::chrono::steady_clock::now();
  timer.join();
  if (outcome.summary.termination != Termination::Cancelled)
    GTEST_SKIP() << "the run was over before it could be stopped";
  EXPECT_LT(std::chrono::duration<double>(returned - asked).count(), 0.5);
}

}  // namespace
}  // namespace milieu

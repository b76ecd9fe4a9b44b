// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/summary.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace milieu {
namespace {

RunSummary example() {
  RunSummary summary;
  summary.method = "kmeans";
  summary.objective = 1234.5;
  summary.iterations = 12;
  summary.seconds = 0.314;
  summary.n = 6;
  summary.d = 4;
  set_sizes(summary, std::vector<int>{0, 2, 2, 0, 2, -1}, 3);
  return summary;
}

TEST(Summary, SizesCountLabelsAndLeaveOutNone) {
  const RunSummary summary = example();
  EXPECT_EQ(summary.sizes, (std::vector<int64_t>{2, 0, 3}));
  EXPECT_EQ(summary.clusters, 2);
}

TEST(Summary, SizesOfNothingAreZero) {
  RunSummary summary = example();
  set_sizes(summary, {}, 2);
  EXPECT_EQ(summary.sizes, (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(summary.clusters, 0);
}

TEST(Summary, BriefIsOneLineForPeople) {
  EXPECT_EQ(
      example().brief(),
      "kmeans: 2 clusters of 6 x 4, objective 1234.5, converged after 12 iterations (0.31 s)");
}

TEST(Summary, EveryTerminationHasItsWords) {
  RunSummary summary = example();
  summary.iterations = 1;
  const auto brief = [&](Termination termination) {
    summary.termination = termination;
    return summary.brief();
  };
  EXPECT_NE(brief(Termination::Converged).find("converged after 1 iteration ("), std::string::npos);
  EXPECT_NE(brief(Termination::IterationLimit).find("stopped at the limit of 1 iteration"),
            std::string::npos);
  EXPECT_NE(brief(Termination::TimeLimit).find("stopped by the time limit"), std::string::npos);
  EXPECT_NE(brief(Termination::Cancelled).find("cancelled after"), std::string::npos);
  EXPECT_NE(brief(Termination::NumericalIssue).find("a numerical issue"), std::string::npos);
}

TEST(Summary, FullAddsRestartsSizesMessageAndWarnings) {
  RunSummary summary = example();
  summary.restart = 2;
  summary.num_restarts = 10;
  summary.message = "All is well.";
  summary.warnings = {"one", "two"};
  EXPECT_EQ(summary.full(), summary.brief() +
                                "\nrestart 3 of 10 kept\nsizes: 2 0 3\nAll is well.\nwarning: one\n"
                                "warning: two");
}

TEST(Summary, TerminationWordsAreThoseOfTheJson) {
  EXPECT_STREQ(to_string(Termination::Converged), "Converged");
  EXPECT_STREQ(to_string(Termination::IterationLimit), "IterationLimit");
  EXPECT_STREQ(to_string(Termination::TimeLimit), "TimeLimit");
  EXPECT_STREQ(to_string(Termination::Cancelled), "Cancelled");
  EXPECT_STREQ(to_string(Termination::NumericalIssue), "NumericalIssue");
}

TEST(Summary, StopReasonsBecomeTerminations) {
  EXPECT_EQ(termination_from(StopReason::Cancelled), Termination::Cancelled);
  EXPECT_EQ(termination_from(StopReason::TimeLimit), Termination::TimeLimit);
}

TEST(Summary, VersionIsThreeNumbers) {
  int major = -1, minor = -1, patch = -1;
  EXPECT_EQ(std::sscanf(version(), "%d.%d.%d", &major, &minor, &patch), 3) << version();
}

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/methods/icc_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace milieu {
namespace {

using ::testing::HasSubstr;

IccComparison two_rows(int num_trials) {
  IccComparison comparison;
  comparison.num_trials = num_trials;
  comparison.num_wanted = 6;
  for (const char* name : {"LDA only", "ICC + LDA"}) {
    IccCompareRow& row = comparison.rows.emplace_back();
    row.name = name;
    row.mean = 0.75;
    row.deviation = 0.125;
    row.p_value = 0.5;
    row.subclasses = 3;
    row.overlap = 0.25;
    row.seconds = 2;
  }
  return comparison;
}

TEST(IccRun, ComparisonIsATableWithOneLinePerMethod) {
  EXPECT_EQ(comparison_csv(two_rows(6)),
            "method,accuracy,std,p_value,subclasses,overlap,seconds\n"
            "LDA only,0.75,0.125,0.5,3,0.25,2\nICC + LDA,0.75,0.125,0.5,3,0.25,2\n");
}

// p-values of a comparison that was stopped would be those of whatever trials there were.
TEST(IccRun, StoppedComparisonHasNoPValues_issue20) {
  EXPECT_THAT(comparison_csv(two_rows(3)), HasSubstr("LDA only,0.75,0.125,,3,0.25,2\n"));
  EXPECT_EQ(comparison_csv(two_rows(0)),
            "method,accuracy,std,p_value,subclasses,overlap,seconds\n");
}

}  // namespace
}  // namespace milieu

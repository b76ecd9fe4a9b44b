// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/learn_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "milieu/base/error.h"
#include "milieu/render/markup_check.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(LearnReport, SaysWhichCandidatesAreSwitchedOff) {
  RunSummary summary;
  summary.n = 60;
  summary.clusters = 3;
  summary.trace = {2, 1.5, 1.2};
  summary.extra = {{"penalty", 4.5}};
  summary.warnings = {"a <b> & c"};
  LearnReportInput input;
  input.summary = &summary;
  input.source = "photos <old>";
  input.names = {"gist l1", "lbp <rbf>", "noise"};
  input.weights = {0.5, 0.25, 0};
  input.shares = {0.8, 0.2, 0};
  input.energy = {3, 2, 2};
  input.bound = {1, 0.5, 0.8};
  const std::string page = render_learn_report(input);
  EXPECT_THAT(find_markup_faults(page), IsEmpty());
  EXPECT_THAT(page, HasSubstr("1 of 3 candidates is switched off: noise."));
  EXPECT_THAT(page, HasSubstr("lbp &lt;rbf&gt;</text>"));  // the bars have names
  EXPECT_THAT(page, Not(HasSubstr("<old>")));
  input.shares[2] = 0.1;
  EXPECT_THAT(render_learn_report(input), HasSubstr("All 3 candidates take part."));
  input.names.pop_back();
  EXPECT_THROW(render_learn_report(input), InvalidArgument);
}

TEST(LearnReport, LinesOfOnePointAndEqualValuesAreDrawn) {
  const std::string svg = render_lines("one", "One", "x", "y", {{"a", {1}, {2}}, {"b", {}, {}}});
  EXPECT_THAT(find_markup_faults(svg), IsEmpty());
}

}  // namespace
}  // namespace milieu

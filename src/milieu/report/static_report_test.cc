// SPDX-License-Identifier: Apache-2.0
#include "milieu/report/static_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "milieu/base/error.h"
#include "milieu/base/random.h"
#include "milieu/render/markup_check.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct DemoOptions {
  int num_clusters = 3;
  std::string note = "<b>";
};
template <class Visitor>
void visit_fields(DemoOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, at_least(1), "how many clusters");
  v("note", o.note, anything(), "free text");
}

// A finished run on random images, with everything that a report can show.
struct FakeRun {
  Matrix<float> points;
  std::vector<int> labels;
  std::vector<int> truth;
  RunSummary summary;
  Metrics metrics;
  DemoOptions options;

  FakeRun(int64_t n, int64_t d, int num_clusters) : points(n, d), labels(n), truth(n) {
    Random random(1);
    for (int64_t i = 0; i < points.size(); ++i)
      points.data()[i] = static_cast<float>(random.uniform());
    for (int64_t i = 0; i < n; ++i) {
      labels[i] = static_cast<int>(i % num_clusters);
      truth[i] = static_cast<int>(i % 2);
    }
    summary.method = "kmeans";
    summary.seed = 42;
    summary.n = n;
    summary.d = d;
    summary.trace = {30, 20, 15};
    summary.objective = 15;
    summary.iterations = 3;
    summary.seconds = 0.25;
    set_sizes(summary, labels, num_clusters);
    metrics = compute_metrics(labels, truth);
  }

  ReportInput input() {
    ReportInput input;
    input.summary = &summary;
    input.options = fields_of(options);
    input.points = points;
    input.labels = labels;
    input.metrics = &metrics;
    input.command = "milieu kmeans x.npy -k 3";
    input.source = "x.npy";
    input.truth = truth;
    input.class_names = {"odd", "even"};
    return input;
  }
};

TEST(Report, IsOneValidPageWithEverythingInIt) {
  FakeRun run(40, 16, 3);
  ReportInput input = run.input();
  input.image_width = input.image_height = 4;
  const std::string page = render_report(input);
  EXPECT_THAT(find_markup_faults(page), IsEmpty());
  for (const char* part :
       {"<!DOCTYPE html>", "k-means", "x.npy", "40 samples of 16 dimensions fell into 3 clusters",
        "converged after 3 iterations", "Map of the samples", "Cluster sizes", "Objective",
        "Images of each cluster", "Agreement with the classes", "Clusters and classes", "Options",
        "num_clusters", "milieu kmeans x.npy -k 3", "Seed 42", "data:image/png;base64,"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(page, HasSubstr(version()));
}

TEST(Report, FetchesNothingFromOutside) {
  FakeRun run(40, 16, 3);
  const std::string page = render_report(run.input());
  for (const char* part : {"http:", "https:", "@import", "url(", "<script", "<link"})
    EXPECT_THAT(page, Not(HasSubstr(part)));
}

TEST(Report, SameInputSameBytes) {
  FakeRun run(300, 16, 5);
  EXPECT_EQ(render_report(run.input()), render_report(run.input()));
}

TEST(Report, TextFromOutsideNeverBecomesMarkup) {
  const std::string evil = "\"><script>alert(1)</script>&lt;";
  FakeRun run(10, 4, 2);
  run.summary.method = evil;
  run.summary.message = evil;
  run.summary.termination = Termination::IterationLimit;  // or the message is not shown
  run.summary.warnings = {evil};
  run.summary.extra = {{evil, evil}, {"list", std::vector<std::string>{evil}}};
  run.options.note = evil;
  ReportInput input = run.input();
  input.source = input.command = evil;
  input.class_names = {evil, evil};
  const std::string page = render_report(input);
  EXPECT_THAT(find_markup_faults(page), IsEmpty());
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;&amp;lt;"));
}

TEST(Report, WarningsComeBeforeEverythingElse) {
  FakeRun run(10, 4, 2);
  run.summary.warnings = {"two samples are equal"};
  const std::string page = render_report(run.input());
  EXPECT_LT(page.find("two samples are equal"), page.find("class=\"tiles\""));
}

TEST(Report, ARunOnNothingStillHasAPage) {
  RunSummary summary;
  ReportInput input;
  input.summary = &summary;
  const std::string page = render_report(input);
  EXPECT_THAT(find_markup_faults(page), IsEmpty());
  EXPECT_THAT(page, HasSubstr("0 samples of 0 dimensions fell into 0 clusters"));
}

TEST(Report, DegenerateRunsHaveValidPages) {
  for (const auto& [n, d, k] :
       {std::array{1, 1, 1}, {1, 9, 1}, {5, 1, 1}, {5, 2, 5}, {9, 4, 1}, {200, 4, 100}}) {
    FakeRun run(n, d, k);
    EXPECT_THAT(find_markup_faults(render_report(run.input())), IsEmpty()) << n << " " << d;
  }
  FakeRun same(30, 9, 2);
  std::fill_n(same.points.data(), same.points.size(), 0.5f);
  ReportInput input = same.input();
  input.image_width = input.image_height = 3;
  EXPECT_THAT(find_markup_faults(render_report(input)), IsEmpty());
}

TEST(Report, TracesOfEveryKindAreShown) {
  FakeRun run(10, 4, 2);
  const auto page_with = [&](std::vector<double> trace) {
    run.summary.trace = std::move(trace);
    const std::string page = render_report(run.input());
    EXPECT_THAT(find_markup_faults(page), IsEmpty());
    return page;
  };
  EXPECT_THAT(page_with({}), Not(HasSubstr("id=\"trace\"")));
  run.summary.iterations = 1;
  EXPECT_THAT(page_with({12.5}), HasSubstr("One iteration; the objective is 12.5."));
  run.summary.iterations = 253;  // of which only the last was traced
  EXPECT_THAT(page_with({12.5}), HasSubstr("After 253 iterations; the objective is 12.5."));
  EXPECT_THAT(page_with({kNan, INFINITY}), HasSubstr("No value of the objective is finite."));
  EXPECT_THAT(page_with({kNan, 5, 4, kNan}), HasSubstr("iteration 2: 5"));
  EXPECT_THAT(page_with({7, 7, 7}), HasSubstr("iteration 3: 7"));
  std::vector<double> spike(100000, 1.0);
  spike[77777] = 9;
  const std::string page = page_with(spike);
  EXPECT_THAT(page, HasSubstr("100000 iterations"));
  EXPECT_LT(page.size(), 100000u);
}

// Thinning out must not lose the extremes of a long trace.
TEST(Report, LongTracesKeepTheirPeaks) {
  FakeRun run(10, 4, 2);
  run.summary.trace.assign(50000, 1.0);
  run.summary.trace[33333] = 1000;
  const std::string page = render_report(run.input());
  EXPECT_THAT(page, HasSubstr(">1,000</text>"));  // the axis reaches up to the peak
}

TEST(Report, ObjectiveThatIsNotANumberIsSpelledOut) {
  FakeRun run(10, 4, 2);
  run.summary.objective = kNan;
  run.summary.seconds = kNan;
  run.summary.termination = Termination::NumericalIssue;
  const std::string page = render_report(run.input());
  EXPECT_THAT(find_markup_faults(page), IsEmpty());
  EXPECT_THAT(page, HasSubstr("objective not a number"));
  EXPECT_THAT(page, HasSubstr("stopped by a numerical issue"));
}

TEST(Report, EveryTerminationIsReported) {
  FakeRun run(10, 4, 2);
  const auto sentence_of = [&](Termination termination) {
    run.summary.termination = termination;
    return describe_run(run.summary);
  };
  EXPECT_THAT(sentence_of(Termination::Converged), HasSubstr("converged after 3 iterations"));
  EXPECT_THAT(sentence_of(Termination::IterationLimit), HasSubstr("limit of 3 iterations"));
  EXPECT_THAT(sentence_of(Termination::TimeLimit), HasSubstr("time limit"));
  EXPECT_THAT(sentence_of(Termination::Cancelled), HasSubstr("cancelled"));
}

TEST(Report, MessageIsShownWhenThereIsSomethingToDo) {
  FakeRun run(10, 4, 2);
  run.summary.message = "raise max_iterations to let it finish";
  EXPECT_THAT(render_report(run.input()), Not(HasSubstr("max_iterations")));
  run.summary.termination = Termination::IterationLimit;
  EXPECT_THAT(render_report(run.input()), HasSubstr("Raise max_iterations to let it finish."));
}

TEST(Report, SizeIsBoundedWhateverTheNumbers) {
  FakeRun run(60000, 3, 20000);
  run.summary.warnings.assign(1000, "the same warning");
  run.summary.extra = {{"values", std::vector<double>(100000, 1.5)}};
  const std::string page = render_report(run.input());
  EXPECT_THAT(find_markup_faults(page), IsEmpty());
  EXPECT_LT(page.size(), 2000000u);
  EXPECT_THAT(page, HasSubstr("and 980 more"));
}

TEST(Report, UnclusteredSamplesAreCounted) {
  FakeRun run(10, 4, 2);
  run.labels[3] = run.labels[4] = -1;
  set_sizes(run.summary, run.labels, 2);
  EXPECT_THAT(render_report(run.input()), HasSubstr("2 samples belong to no cluster."));
}

TEST(Report, WrongLengthsAreRefused) {
  FakeRun run(10, 4, 2);
  ReportInput input = run.input();
  input.summary = nullptr;
  EXPECT_THROW(render_report(input), InvalidArgument);
  input = run.input();
  input.labels = std::span(run.labels).first(9);
  EXPECT_THROW(render_report(input), InvalidArgument);
  input = run.input();
  input.truth = std::span(run.truth).first(9);
  EXPECT_THROW(render_report(input), InvalidArgument);
  input = run.input();
  input.image_width = 3;
  input.image_height = 2;
  EXPECT_THROW(render_report(input), InvalidArgument);
  const Matrix<float> images(9, 6);
  input.images = images;
  EXPECT_THROW(render_report(input), InvalidArgument);
}

TEST(Report, NamesOfClustersAreATable) {
  FakeRun run(30, 4, 3);
  ReportInput input = run.input();
  EXPECT_THAT(render_report(input), Not(HasSubstr("Labels that set it apart")));
  std::vector<PartNames> names(3);
  names[1].labels.resize(1);
  names[1].labels[0].name = "<snow leopard>";
  names[1].labels[0].sure = 0.75;
  input.part_names = names;
  const std::string page = render_report(input);
  EXPECT_THAT(find_markup_faults(page), IsEmpty());
  EXPECT_THAT(page, HasSubstr("&lt;snow leopard&gt; (75"));
  EXPECT_THAT(page, Not(HasSubstr("Labels that set its exemplar apart")));
  names[0].exemplar = names[1].labels;
  EXPECT_THAT(render_report(input), HasSubstr("Labels that set its exemplar apart"));
}

TEST(Report, FeaturesOfImagesAreShownAsTheImages) {
  FakeRun run(10, 4, 2);
  const Matrix<float> images(10, 6);
  ReportInput input = run.input();
  input.images = images;
  input.image_width = 3;
  input.image_height = 2;
  const std::string page = render_report(input);
  EXPECT_THAT(find_markup_faults(page), IsEmpty());
  EXPECT_THAT(page, HasSubstr("Images of each cluster"));
}

}  // namespace
}  // namespace milieu

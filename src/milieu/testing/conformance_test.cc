// SPDX-License-Identifier: Apache-2.0
// The adapter itself; the suite that runs on every method is in tests/conformance.
#include "milieu/testing/conformance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "milieu/base/error.h"
#include "milieu/base/model_visitor.h"

namespace milieu {
namespace {

struct ToyOptions {
  int num_clusters = 2;
  double share = 0.5;
  double width = 1;
  uint64_t seed = 1;
  bool flag = false;
};
template <class Visitor>
void visit_fields(ToyOptions& o, Visitor&& v) {
  v("num_clusters", o.num_clusters, between(1, 10), "");
  v("share", o.share, between(0, 1), "");
  v("width", o.width, above(0), "");
  v("seed", o.seed, at_least(0), "");
  v("flag", o.flag, anything(), "");
}
struct ToyModel {
  static constexpr std::string_view kKind = "toy";
  static constexpr int kFormatVersion = 1;
  std::vector<int> seen;
};
template <MaybeConst<ToyModel> Model, class Visitor>
void visit_arrays(Model& m, Visitor&& v) {
  v("seen", m.seen);
}
struct ToyResult {
  std::vector<int> labels;
  ToyModel model;
  RunSummary summary;
};

ToyResult fit_toy(FloatView points, const ToyOptions& options, Monitor&) {
  validate_options(options);
  ToyResult result;
  result.labels.assign(static_cast<size_t>(points.rows()), 0);
  result.model.seen = {options.num_clusters, static_cast<int>(options.seed)};
  return result;
}

TEST(Conformance, SettingsReachTheOptions) {
  const ConformanceMethod method = conformance_method("toy", ToyOptions{}, fit_toy);
  EXPECT_TRUE(method.takes_num_clusters);
  const Matrix<float> points(4, 2);
  const ConformanceOutcome outcome =
      method.fit(points, {.num_clusters = 7, .seed = 9}, silent_monitor());
  ToyModel seen = from_model_file<ToyModel>(outcome.model, "memory");
  EXPECT_EQ(seen.seen, (std::vector<int>{7, 9}));
  EXPECT_EQ(outcome.labels.size(), 4u);
  EXPECT_FALSE(outcome.predict);
}

TEST(Conformance, EveryRangeIsProbedOutsideItsEnds) {
  const ConformanceMethod method = conformance_method("toy", ToyOptions{}, fit_toy);
  std::vector<std::string> probes;
  for (const auto& refusal : method.refusals) {
    probes.push_back(refusal.option + " " + refusal.value);
    EXPECT_THROW(refusal.run(Matrix<float>(4, 2)), InvalidArgument) << probes.back();
  }
  EXPECT_EQ(probes, (std::vector<std::string>{"num_clusters 0", "num_clusters 11", "share -5e-324",
                                              "share 1.0000000000000002", "share nan", "width 0",
                                              "width nan", "seed -1"}));
}

}  // namespace
}  // namespace milieu

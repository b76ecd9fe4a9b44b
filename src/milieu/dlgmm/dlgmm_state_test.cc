// SPDX-License-Identifier: Apache-2.0
// Runs that were stopped or killed: what they return, how they resume, which states are refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stop_token>

#include "milieu/base/error.h"
#include "milieu/dlgmm/dlgmm_run_internal.h"
#include "milieu/dlgmm/test_images.h"
#include "milieu/testing/matchers.h"

namespace milieu::internal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A fit and the state after each of its passes.
struct Watched {
  DlgmmResult result;
  std::vector<DlgmmState> states;
};

Watched watch(DlgmmInput input, const DlgmmOptions& options) {
  Watched out;
  input.on_pass = [&](const DlgmmState& state) { out.states.push_back(state); };
  out.result = fit_dlgmm(input, options);
  return out;
}

// All that a run reports but its time.
void expect_same_story(const DlgmmResult& a, const DlgmmResult& b) {
  expect_same(a, b);
  EXPECT_TRUE(a.bound_terms == b.bound_terms);
  EXPECT_EQ(a.summary.termination, b.summary.termination);
  EXPECT_EQ(a.summary.message, b.summary.message);
  EXPECT_EQ(a.summary.iterations, b.summary.iterations);
  EXPECT_EQ(a.summary.warnings, b.summary.warnings);
  EXPECT_EQ(a.summary.extra, b.summary.extra);
}

TEST(DlgmmState, ResumedRunGivesTheSameBits) {
  const Drawn data = draw({});
  for (const DlgmmPosterior posterior : {DlgmmPosterior::Structured, DlgmmPosterior::MeanField}) {
    DlgmmOptions o = small_options();
    o.posterior = posterior;
    const Watched whole = watch(data.input(), o);
    ASSERT_EQ(whole.states.size(), 15u);
    DlgmmInput again = data.input();
    again.resume = &whole.states[6];
    expect_same_story(whole.result, fit_dlgmm(again, o));
    o.seed = 99;
    EXPECT_THAT(message_of([&] { fit_dlgmm(again, o); }), HasSubstr("another run"));
  }
}

// Killed after any pass: after the one that converged and at the limit of passes too.
TEST(DlgmmState, ResumedRunEndsWhereTheWholeOneDoes) {
  const Drawn data = draw({});
  for (const double gamma : {0.0, 0.3, -1.0})
    for (const int max_iterations : {3, 60}) {
      DlgmmOptions o = small_options();
      o.gamma = gamma, o.max_iterations = max_iterations;
      o.rel_tolerance = max_iterations == 3 ? 0 : 1e-3;
      const Watched whole = watch(data.input(), o);
      EXPECT_EQ(whole.result.summary.termination,
                max_iterations == 3 ? Termination::IterationLimit : Termination::Converged);
      for (const DlgmmState& state : whole.states) {
        SCOPED_TRACE(fmt::format("gamma {}, pass {} of {}", gamma, state.iteration,
                                 whole.result.summary.iterations));
        DlgmmInput again = data.input();
        again.resume = &state;
        expect_same_story(whole.result, fit_dlgmm(again, o));
      }
    }
}

TEST(DlgmmState, HasTheTermsOfEveryPass) {
  const Drawn data = draw({});
  DlgmmOptions o = small_options();
  o.gamma = 0.3, o.num_bands = 2, o.max_iterations = 6;
  const Watched whole = watch(data.input(), o);
  const std::vector<double>& trace = whole.result.summary.trace;
  const Matrix<double>& terms = whole.result.bound_terms;
  ASSERT_EQ(terms.rows(), static_cast<int64_t>(trace.size()));
  ASSERT_EQ(terms.cols(), 8);
  EXPECT_TRUE(terms == whole.states.back().terms);
  for (int64_t pass = 0; pass < terms.rows(); ++pass) {
    double sum = 0;
    for (const double term : terms.row_span(pass)) sum += term;
    EXPECT_NEAR(sum, trace[pass], 1e-12 * std::abs(sum));
    EXPECT_LT(terms(pass, 7), 0);
  }
  EXPECT_FALSE(std::equal(terms.row(0), terms.row(0) + 8, terms.row(1)));
}

TEST(DlgmmState, StopDuringTheChoiceOfClustersLeavesTheState) {
  const Drawn data = draw({});
  DlgmmOptions o = small_options();
  o.num_clusters = -1, o.max_iterations = 2;
  const Watched whole = watch(data.input(), o);
  DlgmmInput again = data.input();
  again.resume = &whole.states[0];
  expect_same_story(whole.result, fit_dlgmm(again, o));
  std::stop_source source;
  source.request_stop();
  Monitor stopped(source.get_token());
  const DlgmmResult result = fit_dlgmm(again, o, stopped);
  EXPECT_EQ(result.summary.termination, Termination::Cancelled);
  EXPECT_THAT(result.summary.trace, HasBitsOf(whole.states[0].trace));
}

// Every part of the input shows, and no patch is left out.
TEST(DlgmmState, OfOtherInputIsRefused) {
  const Drawn data = draw({.D = 150});
  std::vector<uint8_t> bands(2400, 0);
  std::vector<int> labels(150, 0);
  for (int d = 0; d < 150; ++d) labels[d] = d % 3;
  DlgmmInput input = data.input();
  input.images.bands = bands, input.initial_labels = labels;
  input.initial_words = data.words.view();
  DlgmmOptions o = small_options();
  o.max_iterations = 1;
  const Watched whole = watch(input, o);
  input.resume = &whole.states[0];
  expect_same_story(whole.result, fit_dlgmm(input, o));
  const auto refusal = [&](const DlgmmInput& other) {
    return message_of([&] { fit_dlgmm(other, o); });
  };
  for (const int64_t at : {int64_t{0}, int64_t{5}, data.patches.size() - 1}) {
    Matrix<float> patches = data.patches;
    patches.data()[at] += 1e-3F;
    DlgmmInput other = input;
    other.images.patches = patches.view();
    EXPECT_THAT(refusal(other), HasSubstr("another run")) << at;
  }
  DlgmmInput other = input;
  Matrix<int32_t> grid = data.grid;
  grid(149, 0) = 2, grid(149, 1) = 8;
  other.images.grid = grid.view();
  EXPECT_THAT(refusal(other), HasSubstr("another run")) << "grid";
  other = input;
  other.images.bands = {};
  EXPECT_THAT(refusal(other), HasSubstr("another run")) << "bands";
  other = input;
  std::vector<int> other_labels = labels;
  other_labels[149] = 0;
  other.initial_labels = other_labels;
  EXPECT_THAT(refusal(other), HasSubstr("another run")) << "labels";
  other = input;
  other.initial_words = {};
  EXPECT_THAT(refusal(other), HasSubstr("another run")) << "words";
}

TEST(DlgmmState, FingerprintKnowsEveryByteAndNoThreads) {
  Matrix<float> patches(3000, 257);  // some blocks
  Random random(1);
  for (float& x : std::span(patches.data(), patches.size()))
    x = static_cast<float>(random.normal());
  DlgmmInput input;
  input.images.patches = patches.view();
  DlgmmOptions o;
  o.num_threads = 1;
  const std::string whole = fingerprint_of(input, o);
  o.num_threads = 2;
  EXPECT_EQ(fingerprint_of(input, o), whole);
  Matrix<float> wider(3000, 300);  // the same rows, with a gap between them
  for (int64_t i = 0; i < 3000; ++i) std::copy_n(patches.row(i), 257, wider.row(i));
  input.images.patches = FloatView(wider.data(), 3000, 257, 300);
  EXPECT_EQ(fingerprint_of(input, o), whole);
  input.images.patches = patches.view();
  for (int trial = 0; trial < 100; ++trial) {
    float& x =
        patches.data()[trial == 0 ? patches.size() - 1 : random.uniform_index(patches.size())];
    const float before = x;
    x = std::nextafter(x, 10.0F);
    EXPECT_NE(fingerprint_of(input, o), whole);
    x = before;
  }
  for (int64_t i = 0; i < 257; ++i) std::swap(patches(7, i), patches(2999, i));
  EXPECT_NE(fingerprint_of(input, o), whole);
  o.beta = 0.5;
  EXPECT_NE(fingerprint_of(input, o), whole);
}

// States of earlier versions are resumed: renamed options must not change the fingerprint.
TEST(DlgmmState, FingerprintIsThatOfEarlierVersions) {
  Matrix<float> patches(6, 2);
  for (int i = 0; i < 12; ++i) patches.data()[i] = static_cast<float>(i * i);
  const std::vector<int64_t> offsets = {0, 2, 6};
  DlgmmInput input;
  input.images.patches = patches.view();
  input.images.offsets = offsets;
  EXPECT_EQ(fingerprint_of(input, {}), "99b908efce75cb04");
}

// A file of version 1 has no terms: its reader says so, the state what to do about it.
TEST(DlgmmState, OfVersionOneIsRefused) {
  EXPECT_EQ(DlgmmState::kFormatVersion, 2);
  DlgmmState state;
  const auto reader = [](const char* name, auto&) {
    if (std::string_view(name) == "terms") throw DataError("state: array 'terms' is missing");
  };
  EXPECT_EQ(message_of([&] { visit_arrays(state, reader); }),
            "state: array 'terms' is missing: the state was written by an older version of Milieu; "
            "delete it to "
            "start over");
}

TEST(DlgmmState, PatchesThatChangeBetweenPassesAreNoticed) {
  Drawn data = draw({});
  DlgmmInput input = data.input();
  input.on_pass = [&](const DlgmmState& state) {
    if (state.iteration == 3) data.patches(17, 2) += 1000;
  };
  EXPECT_THAT(message_of([&] { fit_dlgmm(input, small_options()); }),
              AllOf(HasSubstr("the bound fell from"),
                    HasSubstr("the patches changed while they were being read")));
}

class StopAfterOnePass : public Monitor {
 public:
  explicit StopAfterOnePass(std::stop_source source)
      : Monitor(source.get_token()), source_(std::move(source)) {}
  void on_iteration(const IterationReport&) override { source_.request_stop(); }

 private:
  std::stop_source source_;
};

// Full matrices make inference slow: only some images are reached in time.
TEST(DlgmmState, StoppedFitLabelsEveryImageWithPatches) {
  Drawn data = draw({.D = 200, .V = 60});
  data.offsets.insert(data.offsets.begin() + 3, data.offsets[3]);
  DlgmmInput input = data.input();
  input.images.grid = {};
  DlgmmOptions o = small_options();
  o.num_words = 60, o.covariance = DlgmmCovariance::Full, o.posterior = DlgmmPosterior::Structured;
  o.num_restarts = o.init_rounds = o.layer_rounds = 1;
  DlgmmState last;
  input.on_pass = [&](const DlgmmState& state) { last = state; };
  StopAfterOnePass monitor{std::stop_source()};
  const DlgmmResult result = fit_dlgmm(input, o, monitor);
  EXPECT_EQ(result.summary.termination, Termination::Cancelled);
  ASSERT_EQ(result.summary.iterations, 1);
  int num_of_fit = 0;
  for (int64_t d = 0; d < 201; ++d) {
    EXPECT_EQ(result.labels[d] == -1, d == 3) << d;
    const std::span<const double> zeta = result.prediction.probabilities.row_span(d);
    if (d == 3) continue;
    EXPECT_EQ(result.labels[d], std::ranges::max_element(zeta) - zeta.begin());
    if (!std::ranges::equal(zeta, last.probabilities.row_span(d))) continue;
    ++num_of_fit;
    EXPECT_TRUE(std::ranges::equal(result.prediction.alpha.row_span(d), last.alpha.row_span(d)));
  }
  EXPECT_GT(num_of_fit, 10);
  EXPECT_THAT(result.summary.warnings.back(),
              HasSubstr(fmt::format("labels of {} of 201 images", num_of_fit)));
}

}  // namespace
}  // namespace milieu::internal

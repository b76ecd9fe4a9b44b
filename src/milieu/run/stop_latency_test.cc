// SPDX-License-Identifier: Apache-2.0
// Ctrl-C is answered within 0.2 s at any size: twice the rows must not take longer to stop.
#include "milieu/testing/stop_latency.h"

#include <gtest/gtest.h>

#include "milieu/base/random.h"
#include "milieu/base/sanitizer.h"
#include "milieu/classic/counts/jsom.h"
#include "milieu/classic/counts/topics.h"
#include "milieu/classic/gmm/gmm.h"
#include "milieu/exemplar/search/exemplar.h"
#include "milieu/icc/icc.h"

namespace milieu {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(MILIEU_TSAN)
constexpr bool kHasSanitizer = true;
#else
constexpr bool kHasSanitizer = false;
#endif
constexpr double kMostSeconds = 0.25;  // the promise is 0.2, of an idle machine

Matrix<float> random_points(int64_t n, int64_t d) {
  Matrix<float> points(n, d);
  Random random(1);
  for (float& x : std::span(points.data(), points.size())) x = static_cast<float>(random.normal());
  return points;
}

Matrix<float> random_counts(int64_t n, int64_t num_words) {
  Matrix<float> counts(n, num_words);
  Random random(1);
  for (float& x : std::span(counts.data(), counts.size()))
    x = static_cast<float>(random.uniform_index(4));
  return counts;
}

std::vector<int> some_classes(int64_t n, int num_classes) {
  std::vector<int> classes(static_cast<size_t>(n));
  for (size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<int>(i) % num_classes;
  return classes;
}

// `fit(n, monitor)` for n and 2 n rows.
void expect_quick_stops(int64_t n, const std::function<void(int64_t, Monitor&)>& fit) {
  if (kHasSanitizer) GTEST_SKIP() << "a sanitizer makes everything slower";
  for (const int64_t rows : {n, 2 * n})
    EXPECT_LT(worst_stop_seconds([&](Monitor& monitor) { fit(rows, monitor); }), kMostSeconds)
        << rows;
}

TEST(StopLatency, IccWithoutGrid_issue20) {
  const Matrix<float> points = random_points(12000, 2);
  const std::vector<int> classes = some_classes(12000, 3);
  expect_quick_stops(6000, [&](int64_t n, Monitor& monitor) {
    IccOptions options;
    options.climb = IccClimb::Free;
    options.num_threads = 1;
    fit_icc({points.view().rows_between(0, n), std::span(classes).first(n)}, options, monitor);
  });
}

TEST(StopLatency, IccInThreeDimensions_issue20) {
  const Matrix<float> points = random_points(40000, 3);
  const std::vector<int> classes = some_classes(40000, 8);
  expect_quick_stops(20000, [&](int64_t n, Monitor& monitor) {
    IccOptions options;
    options.num_dims = 3;
    options.num_threads = 1;
    options.bootstrap = 100;
    fit_icc({points.view().rows_between(0, n), std::span(classes).first(n)}, options, monitor);
  });
}

TEST(StopLatency, Topics_issue20) {
  const Matrix<float> counts = random_counts(6000, 200);
  expect_quick_stops(3000, [&](int64_t n, Monitor& monitor) {
    TopicsOptions options;
    options.num_clusters = 30;
    options.num_threads = 1;
    fit_topics({counts.view().rows_between(0, n)}, options, monitor);
  });
}

TEST(StopLatency, Jsom_issue20) {
  const Matrix<float> counts = random_counts(3000, 200);
  expect_quick_stops(1500, [&](int64_t n, Monitor& monitor) {
    JsomOptions options;
    options.num_threads = 1;
    fit_jsom({counts.view().rows_between(0, n)}, options, monitor);
  });
}

TEST(StopLatency, Exemplar_issue20) {
  const Matrix<float> points = random_points(8000, 8);
  expect_quick_stops(4000, [&](int64_t n, Monitor& monitor) {
    ExemplarOptions options;
    options.num_threads = 1;
    ExemplarInput input;
    input.points = points.view().rows_between(0, n);
    fit_exemplar(input, options, monitor);
  });
}

TEST(StopLatency, GmmOfManyComponents_issue20) {
  const Matrix<float> points = random_points(20000, 4);
  expect_quick_stops(10000, [&](int64_t n, Monitor& monitor) {
    GmmOptions options;
    options.num_clusters = static_cast<int>(n / 3);
    options.num_threads = 1;
    GmmInput input;
    input.points = points.view().rows_between(0, n);
    fit_gmm(input, options, monitor);
  });
}

}  // namespace
}  // namespace milieu

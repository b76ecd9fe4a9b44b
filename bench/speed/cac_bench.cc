// SPDX-License-Identifier: Apache-2.0
// The cost of nested EM beside that of k-means, step by step, on one thread:
//   milieu_cac_bench N D WORDS PHRASES NEIGHBORS REPEAT
// prints JSON: processor seconds of one nested iteration (phrase step and word step), the first
// after an M-step and the mean until J settles, of the M-step, and of one k-means iteration without
// bounds (every sample against every centre, then the means), compiled alike.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/cac/cac_start_internal.h"                 // private: times a start by itself
#include "milieu/cac/cac_steps.h"                          // private: times single steps
#include "milieu/classic/kmeans/kmeans_assign_internal.h"  // private: what the steps are compared with
#include "milieu/classic/kmeans/kmeans_centers.h"

namespace milieu {
namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
double time_of(Work&& work) {
  const double before = processor_seconds();
  work();
  return processor_seconds() - before;
}

struct Data {
  Matrix<float> points, positions;
};

// Overlapping clusters whose members lie in patches of the plane.
Data make_data(int64_t n, int64_t d) {
  Random random(1);
  Data data{Matrix<float>(n, d), Matrix<float>(n, 2)};
  Matrix<float> centers(60, d);
  for (int64_t i = 0; i < centers.size(); ++i)
    centers.data()[i] = static_cast<float>(2 * random.normal());
  for (int64_t i = 0; i < n; ++i) {
    const double x = random.uniform(), y = random.uniform();
    const auto patch = static_cast<int64_t>(5 * x);
    const int64_t c = 12 * patch + random.uniform_index(12);
    data.positions(i, 0) = static_cast<float>(x);
    data.positions(i, 1) = static_cast<float>(y);
    for (int64_t t = 0; t < d; ++t)
      data.points(i, t) = static_cast<float>(centers(c, t) + 1.5 * random.normal());
  }
  return data;
}

// One k-means iteration without bounds: a fresh assignment each time, then the means.
double time_kmeans(const KMeansProblem& problem, FloatView start, int repeat) {
  std::vector<double> seconds;
  Matrix<float> centers(start);
  ClusterSums sums(problem);
  std::vector<int> labels(static_cast<size_t>(problem.points.rows()));
  const internal::Scaling scaling{
      std::vector<float>(problem.mean.begin(), problem.mean.end()),
      internal::scaling_factor(std::sqrt(problem.scatter / problem.total_weight))};
  for (int r = 0; r < repeat; ++r) {
    internal::NearestCenters nearest(problem.points, scaling, 1);
    seconds.push_back(time_of([&] {
      nearest.assign(centers, silent_monitor(), labels);
      sums.update(labels);
      update_centers(sums, centers);
    }));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

int run(int64_t n, int64_t d, int words, int phrases, int neighbors, int repeat) {
  const Data data = make_data(n, d);
  CacInput input;
  input.views = {data.points};
  input.positions = data.positions;
  CacOptions options;
  options.phrase_model = CacPhraseModel::Counts;  // nested EM as a whole
  options.num_words = words;
  options.num_phrases = phrases;
  options.num_neighbors = neighbors;
  options.num_threads = 1;
  const internal::CacProblem problem = internal::make_cac_problem(input, options, silent_monitor());
  const internal::CacState start =
      *internal::start_from_words(problem, options, Random(1), silent_monitor());
  const double ratio = 0.25 * static_cast<double>(n) / static_cast<double>(n * neighbors);
  std::vector<double> first, all, m_steps;
  for (int r = 0; r < repeat; ++r) {
    internal::NestedEm em(problem, ratio, start);
    em.update_phrases(silent_monitor());
    em.update_words(silent_monitor());  // distances are made here
    for (int round = 0; round < 3; ++round) {
      m_steps.push_back(time_of([&] {
        em.update_prototypes(silent_monitor());
        em.update_compositions();
      }));
      em.update_words(silent_monitor());  // the distances of the M-step
      double before = 0;
      int inner = 0;
      do {
        before = em.objective();
        const double seconds = time_of([&] {
          em.update_phrases(silent_monitor());
          em.update_words(silent_monitor());
        });
        if (inner++ == 0) first.push_back(seconds);
        all.push_back(seconds);
      } while (em.objective() < before && inner < 10);
    }
  }
  // Every group and every primitive examined: the most expensive nested iteration there can be.
  std::vector<double> all_groups, all_primitives;
  for (int r = 0; r < repeat; ++r) {
    internal::NestedEm full(problem, ratio, start);
    all_groups.push_back(time_of([&] { full.update_phrases(silent_monitor()); }));
    full.update_words(silent_monitor());
    for (int s = 1; s <= 3; ++s) {
      full.set_lambda(ratio * (1 + 1e-9 * s));  // marks every primitive
      all_primitives.push_back(time_of([&] { full.update_words(silent_monitor()); }));
    }
  }
  const double kmeans = time_kmeans(problem.views[0].problem, start.prototypes[0], 3 * repeat);
  const auto median = [](std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  };
  double sum = 0;
  for (const double seconds : all) sum += seconds;
  std::printf(
      "{\"n\": %lld, \"d\": %lld, \"kmeans\": %.6f, \"nested_first\": %.6f, \"nested_mean\": %.6f, "
      "\"nested_full\": %.6f, \"m_step\": %.6f}\n",
      static_cast<long long>(n), static_cast<long long>(d), kmeans, median(first),
      sum / static_cast<double>(all.size()), median(all_groups) + median(all_primitives),
      median(m_steps));
  return 0;
}

}  // namespace
}  // namespace milieu

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fputs("usage: milieu_cac_bench N D WORDS PHRASES NEIGHBORS REPEAT\n", stderr);
    return 2;
  }
  return milieu::run(std::atoll(argv[1]), std::atoll(argv[2]), std::atoi(argv[3]),
                     std::atoi(argv[4]), std::atoi(argv[5]), std::atoi(argv[6]));
}

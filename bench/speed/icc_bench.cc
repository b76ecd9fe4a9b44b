// SPDX-License-Identifier: Apache-2.0
// icc_bench fit N REPEAT THREADS    fit_icc on N points of the paper's Figure 7, in memory
// icc_bench stream N REPEAT THREADS the same streamed in chunks of a million, N points in all
// Prints JSON: the median of the seconds, processor time included, and the sub-classes found.
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "milieu/base/random.h"
#include "milieu/icc/icc.h"
#include "milieu/icc/icc_examples.h"

namespace {

using namespace milieu;
using internal::IccExample;
using internal::make_icc_figure7;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

IccOptions paper_options(int threads) {
  IccOptions options;
  options.bandwidth = "8c";
  options.window = 6.25;
  options.num_threads = threads;
  return options;
}

IccResult run_once(bool is_stream, int64_t n, const IccExample& data, int threads) {
  if (!is_stream) return fit_icc({data.points, data.classes, {}, {}}, paper_options(threads));
  const int64_t chunk = data.points.rows();
  const IccSource source{[&](const IccChunkVisitor& visit) {
                           for (int64_t done = 0; done < n; done += chunk) {
                             const int64_t rows = std::min(chunk, n - done);
                             visit(data.points.view().rows_between(0, rows),
                                   std::span(data.classes).first(rows));
                           }
                         },
                         2, 2};
  return fit_icc_stream(source, paper_options(threads));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: icc_bench fit|stream N REPEAT THREADS\n", stderr);
    return 2;
  }
  mallopt(M_TRIM_THRESHOLD, 64 << 20);  // as the program does
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  const bool is_stream = std::strcmp(argv[1], "stream") == 0;
  const int64_t n = std::atoll(argv[2]);
  const int repeat = std::atoi(argv[3]), threads = std::atoi(argv[4]);
  Random random(1);
  const IccExample data = make_icc_figure7(random, is_stream ? std::min<int64_t>(n, 1'000'000) : n);
  std::vector<double> seconds, processor;
  IccResult result;
  for (int r = 0; r < repeat; ++r) {
    const double before = processor_seconds();
    result = run_once(is_stream, n, data, threads);
    processor.push_back(processor_seconds() - before);
    seconds.push_back(result.summary.seconds);
  }
  std::printf("{\"n\": %lld, \"seconds\": %.6g, \"cpu\": %.6g, \"subclasses\": [%d, %d]}\n",
              static_cast<long long>(n), median(seconds), median(processor),
              result.model.subclasses[0], result.model.subclasses[1]);
}

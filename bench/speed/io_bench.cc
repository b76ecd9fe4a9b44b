// SPDX-License-Identifier: Apache-2.0
// What bench/speed/io.py times on our side; one JSON object on stdout.
//
//   milieu_io_bench open FILE.npy REPETITIONS            opening, seconds each
//   milieu_io_bench finite FILE.npy THREADS REPETITIONS  the pass that looks for NaN and Inf
//   milieu_io_bench csv FILE.csv THREADS REPETITIONS     mapping and parsing a table
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "milieu/base/error.h"
#include "milieu/base/monitor.h"
#include "milieu/data/format/csv.h"
#include "milieu/data/format/npy.h"
#include "milieu/data/mapped_file.h"
#include "milieu/linalg/finite.h"

namespace milieu {
namespace {

std::vector<double> time_each(int repetitions, const std::function<void()>& run) {
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    const Stopwatch watch;
    run();
    seconds.push_back(watch.seconds());
  }
  return seconds;
}

void print(int64_t rows, int64_t cols, double sum, const std::vector<double>& seconds) {
  fmt::print("{{\"rows\": {}, \"cols\": {}, \"sum\": {}, \"seconds\": [{}]}}\n", rows, cols, sum,
             fmt::join(seconds, ", "));
}

void bench_open(const std::string& path, int repetitions) {
  Points points;
  const auto seconds = time_each(repetitions, [&] { points = to_points(open_npy(path)); });
  print(points.rows(), points.cols(), 0, seconds);
}

void bench_finite(const std::string& path, int threads, int repetitions) {
  const Points points = to_points(open_npy(path));
  int found = 0;
  const auto seconds =
      time_each(repetitions, [&] { found += find_non_finite(points.view(), threads).has_value(); });
  print(points.rows(), points.cols(), found, seconds);
}

void bench_csv(const std::string& path, int threads, int repetitions) {
  CsvTable table;
  CsvOptions options;
  options.num_threads = threads;
  const auto seconds = time_each(repetitions, [&] {
    const auto file = MappedFile::open(path);
    table = parse_csv(file->text(), path, options);
  });
  const float* data = table.numbers.data();
  print(table.numbers.rows(), table.numbers.cols(),
        std::accumulate(data, data + table.numbers.size(), 0.0), seconds);
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == "open") {
    bench_open(words[1], std::atoi(words[2].c_str()));
  } else if (words.size() == 4 && words[0] == "finite") {
    bench_finite(words[1], std::atoi(words[2].c_str()), std::atoi(words[3].c_str()));
  } else if (words.size() == 4 && words[0] == "csv") {
    bench_csv(words[1], std::atoi(words[2].c_str()), std::atoi(words[3].c_str()));
  } else {
    fmt::print(stderr, "milieu_io_bench: see the top of io_bench.cc\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace milieu

int main(int argc, char** argv) {
  try {
    return milieu::run({argv + 1, argv + argc});
  } catch (const milieu::Error& error) {
    fmt::print(stderr, "milieu_io_bench: {}\n", error.what());
    return 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
// Runs every fuzz target over its seed corpus, over all prefixes of the seeds and over the seeds
// with single bytes changed: what a fuzzer found once never comes back, and readers meet truncated
// and damaged files in every ordinary test run.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz_target.h"
#include "milieu/base/random.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> seeds_of(const std::string& name) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(MILIEU_FUZZ_CORPUS) / name))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> seeds;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

class FuzzCorpus : public ::testing::TestWithParam<FuzzTarget> {
 protected:
  void run(const std::string& input) const {
    // A copy of exactly this size: address sanitizers see one byte too many.
    const std::vector<char> copy(input.begin(), input.end());
    EXPECT_NO_THROW(run_fuzz_target(GetParam(), std::as_bytes(std::span(copy))));
  }
};

TEST_P(FuzzCorpus, SeedsAreAnswered) {
  const std::vector<std::string> seeds = seeds_of(GetParam().name);
  EXPECT_GE(seeds.size(), 3u);
  for (const std::string& seed : seeds) run(seed);
}

TEST_P(FuzzCorpus, TruncatedSeedsAreAnswered) {
  for (const std::string& seed : seeds_of(GetParam().name))
    for (size_t size = 0; size < seed.size(); ++size) run(seed.substr(0, size));
}

TEST_P(FuzzCorpus, DamagedSeedsAreAnswered) {
  Random random(1);
  for (std::string seed : seeds_of(GetParam().name)) {
    for (int change = 0; change < 500 && !seed.empty(); ++change) {
      char& byte = seed[random.uniform_index(seed.size())];
      const char before = byte;
      byte = static_cast<char>(random.uniform_index(256));
      run(seed);
      byte = before;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpus, ::testing::ValuesIn(fuzz_targets()),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace milieu

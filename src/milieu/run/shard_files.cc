// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/shard_files.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <set>

#include "milieu/base/error.h"

namespace milieu {
namespace {

namespace fs = std::filesystem;

// How many shards the files in the folder are part of: one number, if they belong together.
std::set<int> counts_in(const std::string& folder) {
  std::set<int> counts;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    Shard shard;
    const std::string name = entry.path().filename().string();
    if (std::sscanf(name.c_str(), "%d-of-%d", &shard.index, &shard.count) == 2 &&
        shard.name() == name)
      counts.insert(shard.count);
  }
  return counts;
}

}  // namespace

std::string shard_folder(const std::string& run) {
  std::string folder = run;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder + ".shards";
}

std::string make_shard_file(const std::string& folder, const Shard& shard) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw IoError(fmt::format("{} cannot be created: {}", folder, error.message()));
  for (const int count : counts_in(folder))
    if (count != shard.count)
      throw InvalidArgument(
          fmt::format("{} holds shards of {}, this is one of {}: use the same number for all, or "
                      "remove the folder to start over",
                      folder, count, shard.count));
  return folder + "/" + shard.name();
}

std::vector<std::string> find_shard_files(const std::string& folder) {
  const std::set<int> counts = counts_in(folder);
  if (counts.empty())
    throw InvalidArgument(fmt::format(
        "{} holds no shards to merge: run the same command with --shard 1/2 and --shard 2/2 first",
        folder));
  if (counts.size() > 1)
    throw InvalidArgument(fmt::format("{} holds shards of {} and of {}: remove those of one job",
                                      folder, *counts.begin(), *counts.rbegin()));
  std::vector<std::string> files, missing;
  const int count = *counts.begin();
  for (int index = 1; index <= count; ++index) {
    const Shard shard{index, count};
    files.push_back(folder + "/" + shard.name());
    if (!fs::exists(files.back())) missing.push_back(shard.text());
  }
  check_complete(missing, folder);
  return files;
}

}  // namespace milieu

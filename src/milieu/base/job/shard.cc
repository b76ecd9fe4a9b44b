// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/job/shard.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <span>

#include "milieu/base/error.h"

namespace milieu {
namespace {

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A whole number that Slurm sets for every task of a job array.
int slurm_number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr)
    throw InvalidArgument(
        fmt::format("shard is slurm, but {} is not set: submit the script as a job array (sbatch "
                    "--array=1-8), or write the shard yourself, such as 2/8",
                    name));
  const std::optional<int> value = parse_number(text);
  if (!value || *value < 0)
    throw InvalidArgument(fmt::format("{} is '{}', must be a whole number, 0 or more", name, text));
  return *value;
}

Shard slurm_shard() {
  const int id = slurm_number("SLURM_ARRAY_TASK_ID"),
            count = slurm_number("SLURM_ARRAY_TASK_COUNT");
  const int min = slurm_number("SLURM_ARRAY_TASK_MIN"), max = slurm_number("SLURM_ARRAY_TASK_MAX");
  if (max - min + 1 != count || id < min || id > max)
    throw InvalidArgument(fmt::format(
        "shard is slurm, but the job array has {} tasks from {} to {}: use a plain range such as "
        "--array=1-8, or write the shard yourself, such as {}/8",
        count, min, max, id));
  return {id - min + 1, count};
}

}  // namespace

std::string Shard::text() const { return fmt::format("{}/{}", index, count); }
std::string Shard::name() const { return fmt::format("{}-of-{}", index, count); }

Shard parse_shard(std::string_view text) {
  Shard shard;
  if (text == "slurm") {
    shard = slurm_shard();
  } else {
    const size_t slash = text.find('/');
    const std::optional<int> index = parse_number(text.substr(0, slash));
    const std::optional<int> count =
        slash == std::string_view::npos ? std::nullopt : parse_number(text.substr(slash + 1));
    if (!index || !count)
      throw InvalidArgument(fmt::format("shard is '{}', must be i/n such as 2/8, or slurm", text));
    shard = {*index, *count};
  }
  if (shard.count < 1 || shard.count > kMaxJobShards || shard.index < 1 ||
      shard.index > shard.count)
    throw InvalidArgument(
        fmt::format("shard is {}, must be i/n with i from 1 to n and n at most {}", shard.text(),
                    kMaxJobShards));
  return shard;
}

void check_complete(const std::vector<std::string>& incomplete, const std::string& folder) {
  constexpr size_t kMostNamed = 10;
  if (incomplete.empty()) return;
  const bool is_one = incomplete.size() == 1;
  const auto named = std::span(incomplete).first(std::min(incomplete.size(), kMostNamed));
  throw InvalidArgument(fmt::format(
      "{} {} in {}: {}{}; run {} again, then merge", incomplete.size(),
      is_one ? "shard is not complete" : "shards are not complete", folder, fmt::join(named, ", "),
      incomplete.size() > kMostNamed ? ", ..." : "", is_one ? "it" : "them"));
}

}  // namespace milieu

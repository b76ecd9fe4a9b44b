// SPDX-License-Identifier: Apache-2.0
#include "milieu/run/restart_shards.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>

#include "milieu/base/error.h"
#include "milieu/data/file/journal.h"
#include "milieu/data/identity/fingerprint.h"
#include "milieu/linalg/isa.h"

namespace milieu {
namespace {

using Objectives = std::map<int, double>;

// "3 0.25": a restart and its objective.
void take_line(std::string_view line, const std::string& path, Objectives& objectives) {
  int restart = 0;
  double objective = 0;
  const char* end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, restart);
  if (first.ec != std::errc() || first.ptr == end ||
      std::from_chars(first.ptr + 1, end, objective).ptr != end)
    throw DataError(fmt::format("{} is damaged: remove it to start over", path));
  objectives[restart] = objective;
}

JournalHead head_of(const std::string& key) { return {"list of restarts", key}; }

}  // namespace

void refuse_given_start(const std::vector<Field>& files) {
  for (const Field& field : files)
    if (field.name.starts_with("initial_") && !to_text(field.get()).empty())
      throw InvalidArgument(
          fmt::format("shards divide restarts, and {} makes it a single start: leave one of them "
                      "out",
                      field.name));
}

std::string restarts_key(const std::vector<Field>& options, const std::vector<Field>& files,
                         const Input& input) {
  Fingerprint print("restarts");
  print.version().text(to_string(active_isa())).options(options);
  print.rows(input.data.points.view());
  for (const Field& field : files) {
    const std::string value = to_text(field.get());
    print.text(field.name).text(value);
    if (std::filesystem::exists(value)) print.path(value);
  }
  return print.hex();
}

ShardProgress run_restarts(const Shard& shard, int num_restarts, const std::string& file,
                           const std::string& key, const std::function<double(int)>& objective_of,
                           Monitor& monitor) {
  Objectives known;
  Journal journal(file, head_of(key), [&](std::string_view line) { take_line(line, file, known); });
  journal.open();
  const auto begin = static_cast<int>(shard.begin(num_restarts));
  const auto end = static_cast<int>(shard.end(num_restarts));
  ShardProgress progress{0, end - begin, "restart"};
  for (int restart = begin; restart < end && !monitor.should_stop(); ++restart) {
    if (!known.contains(restart)) {
      const double objective = objective_of(restart);
      if (monitor.should_stop()) break;  // it was cut short
      journal.append(fmt::format("{} {}", restart, objective));
    }
    ++progress.done;
  }
  return progress;
}

int choose_restart(const std::vector<std::string>& files, int num_restarts, const std::string& key,
                   RestartChoice choice) {
  Objectives objectives;
  std::vector<std::string> incomplete;
  for (size_t i = 0; i < files.size(); ++i) {
    const Shard shard{static_cast<int>(i) + 1, static_cast<int>(files.size())};
    const Journal journal(files[i], head_of(key),
                          [&](std::string_view line) { take_line(line, files[i], objectives); });
    bool is_complete = true;
    for (int64_t r = shard.begin(num_restarts); r < shard.end(num_restarts); ++r)
      is_complete = is_complete && objectives.contains(static_cast<int>(r));
    if (!is_complete) incomplete.push_back(shard.text());
  }
  check_complete(incomplete, std::filesystem::path(files[0]).parent_path().string());
  auto best = objectives.begin();
  for (auto each = objectives.begin(); each != objectives.end(); ++each)
    if (is_better(choice, each->second, best->second)) best = each;
  return best->first;
}

}  // namespace milieu

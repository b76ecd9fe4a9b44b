// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/memory.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "milieu/base/error.h"

namespace milieu {
namespace {

constexpr double kAlwaysFits = 64e6;

std::optional<double> number_in(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? std::optional(value) : std::nullopt;  // "max" is no number: no limit
}

// The number after `key` in a file of lines "key 123" or "key: 123 kB".
double number_after(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const double value = std::strtod(line.c_str() + key.size(), nullptr);
    return line.ends_with("kB") ? 1024 * value : value;
  }
  return 0;
}

void take_less(MemoryRoom& room, double bytes, const char* limit) {
  if (bytes < room.bytes) room = {std::max(bytes, 0.0), limit};
}

void add_process_limit(MemoryRoom& room, int resource, double in_use, const char* name) {
  struct rlimit limit = {};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0 &&
      limit.rlim_cur != RLIM_INFINITY)
    take_less(room, static_cast<double>(limit.rlim_cur) - in_use, name);
}

struct GroupFiles {
  const char *limit, *in_use, *inactive;
};

// A group and those that hold it. What is kept of files that nobody reads now is given back.
void add_group_limits(MemoryRoom& room, const std::string& root, std::string path,
                      const GroupFiles& files) {
  for (;; path.erase(path.rfind('/'))) {
    const std::string folder = root + path + "/";
    const std::optional<double> limit = number_in(folder + files.limit);
    const std::optional<double> used = number_in(folder + files.in_use);
    if (limit && used)
      take_less(room, *limit - *used + number_after(folder + "memory.stat", files.inactive),
                "the limit of the control group");
    if (path.empty() || path == "/") return;
  }
}

// Lines of /proc/self/cgroup: "0::/path" (version 2), "4:memory:/path" (version 1).
void add_groups(MemoryRoom& room, const std::string& proc, const std::string& root) {
  std::ifstream file(proc + "/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty())
      add_group_limits(room, root, path, {"memory.max", "memory.current", "inactive_file "});
    else if (("," + controllers + ",").find(",memory,") != std::string::npos)
      add_group_limits(room, root + "/memory", path,
                       {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "});
  }
}

}  // namespace

MemoryRoom internal::memory_room_in(const std::string& proc, const std::string& cgroups) {
  MemoryRoom room;
  const std::string status = proc + "/self/status";
  add_process_limit(room, RLIMIT_AS, number_after(status, "VmSize:"),
                    "the limit of the address space (ulimit -v)");
  add_process_limit(room, RLIMIT_DATA, number_after(status, "VmData:"),
                    "the limit of the data segment (ulimit -d)");
  add_groups(room, proc, cgroups);
  if (const double free = number_after(proc + "/meminfo", "MemAvailable:"); free > 0)
    take_less(room, free, "free memory");
  return room;
}

MemoryRoom memory_room() { return internal::memory_room_in("/proc", "/sys/fs/cgroup"); }

void require_memory(const MemoryNeed& need) {
  if (need.bytes / 1e9 > need.max_gb)
    throw InvalidArgument(fmt::format("max_memory_gb is {}, {} take about {:.3g} GB: {}",
                                      need.max_gb, need.what, need.bytes / 1e9, need.way_out));
  if (need.bytes < kAlwaysFits) return;
  const MemoryRoom room = memory_room();
  if (need.bytes > room.bytes)
    throw InvalidArgument(
        fmt::format("{} take about {:.3g} GB, but only {:.3g} GB are left ({}): "
                    "{}",
                    need.what, need.bytes / 1e9, room.bytes / 1e9, room.limit, need.way_out));
}

}  // namespace milieu

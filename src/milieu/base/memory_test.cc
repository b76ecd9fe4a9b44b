// SPDX-License-Identifier: Apache-2.0
#include "milieu/base/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "milieu/base/error.h"
#include "milieu/testing/temp_dir.h"

namespace milieu {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

void write(const TempDir& folder, const std::string& name, const std::string& content) {
  std::filesystem::create_directories(std::filesystem::path(folder.file(name)).parent_path());
  folder.write(name, content);
}

MemoryRoom room_in(const TempDir& folder) {
  return internal::memory_room_in(folder.file("proc"), folder.file("cgroup"));
}

TEST(Memory, LeastOfAllLimitsCounts_issue20) {
  const TempDir folder;
  EXPECT_EQ(room_in(folder).limit, "");
  write(folder, "proc/meminfo", "MemTotal:  9 kB\nMemAvailable:  8000000 kB\n");
  EXPECT_EQ(room_in(folder).bytes, 8192e6);
  EXPECT_EQ(room_in(folder).limit, "free memory");
  write(folder, "proc/self/cgroup", "3:cpu:/x\n0::/a/b\n");
  write(folder, "cgroup/a/memory.max", "3000000000\n");
  write(folder, "cgroup/a/memory.current", "1000000000\n");
  write(folder, "cgroup/a/b/memory.max", "max\n");
  write(folder, "cgroup/a/b/memory.current", "7\n");
  EXPECT_EQ(room_in(folder).bytes, 2e9) << "the group that holds ours has a limit";
  write(folder, "cgroup/a/memory.stat", "anon 5\ninactive_file 500000000\n");
  EXPECT_EQ(room_in(folder).bytes, 2.5e9) << "files that nobody reads are given back";
  EXPECT_EQ(room_in(folder).limit, "the limit of the control group");
}

TEST(Memory, GroupsOfTheFirstVersionCount_issue20) {
  const TempDir folder;
  write(folder, "proc/self/cgroup", "4:cpu,memory:/docker/1\n");
  write(folder, "cgroup/memory/memory.limit_in_bytes", "100000000\n");
  write(folder, "cgroup/memory/memory.usage_in_bytes", "40000000\n");
  EXPECT_EQ(room_in(folder).bytes, 60e6);
}

TEST(Memory, RefusalNamesNeedLimitAndWayOut_issue20) {
  const MemoryNeed need{1e15, "the distances of 9 samples", "use fewer rows"};
  EXPECT_THAT([&] { require_memory(need); },
              ThrowsMessage<InvalidArgument>(
                  ::testing::AllOf(HasSubstr("the distances of 9 samples take about 1e+06 GB, but"),
                                   HasSubstr("GB are left ("), HasSubstr("): use fewer rows"))));
  MemoryNeed own{3e9, "the maps", "use a smaller grid", 2};
  EXPECT_THAT([&] { require_memory(own); },
              ThrowsMessage<InvalidArgument>(
                  "max_memory_gb is 2, the maps take about 3 GB: use a smaller grid"));
  EXPECT_NO_THROW(require_memory({1e6, "a little", "nothing"}));
}

TEST(Memory, AddressSpaceLimitCounts_issue20) {
  struct rlimit before = {};
  ::getrlimit(RLIMIT_AS, &before);
  const TempDir folder;
  write(folder, "proc/self/status", "VmPeak: 9 kB\nVmSize:  1000000 kB\nVmData: 1 kB\n");
  const struct rlimit limit = {rlim_t{1} << 45, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  const MemoryRoom room = room_in(folder);
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(room.bytes, static_cast<double>(int64_t{1} << 45) - 1024e6);
  EXPECT_THAT(room.limit, HasSubstr("ulimit -v"));
}

}  // namespace
}  // namespace milieu

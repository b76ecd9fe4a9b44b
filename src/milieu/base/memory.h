// SPDX-License-Identifier: Apache-2.0
// Whether something large will fit, asked before it is allocated: a method that cannot finish says
// so in its first second, with the number and the way out, instead of being killed later.
#pragma once

#include <limits>
#include <string>

#include "milieu/base/export.h"

namespace MILIEU_API milieu {

// What is left for this process, and what limits it.
struct MemoryRoom {
  double bytes = std::numeric_limits<double>::infinity();
  std::string limit = {};  // "free memory", "the limit of the control group", ...
};

// The least of: the address space and data limits (ulimit -v, -d) less what is in use, the memory
// limits of the control groups (containers) less what is in use, and the machine's free memory.
MemoryRoom memory_room();

struct MemoryNeed {
  double bytes = 0;
  std::string what;     // "the distances of all pairs of 40000 samples"
  std::string way_out;  // "use fewer rows"
  // The method's own limit in GB (10^9 bytes), the option max_memory_gb; infinity: none.
  double max_gb = std::numeric_limits<double>::infinity();
};

// Throws InvalidArgument with the need, the limit and the way out when it does not fit. Needs of
// less than 64 MB always fit, so that small runs never depend on the machine.
void require_memory(const MemoryNeed& need);

namespace internal {
// memory_room() with /proc and /sys/fs/cgroup elsewhere.
MemoryRoom memory_room_in(const std::string& proc, const std::string& cgroups);
}  // namespace internal

}  // namespace milieu

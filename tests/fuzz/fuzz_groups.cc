// SPDX-License-Identifier: Apache-2.0
// The first byte is the number of samples (255: not known), the rest the file.
#include "fuzz_target.h"
#include "milieu/data/groups.h"

namespace milieu {
namespace {

const RegisterFuzzTarget kRegistered("groups", [](std::span<const std::byte> input) {
  if (input.empty()) return;
  const int first = std::to_integer<int>(input[0]);
  const Groups groups =
      parse_groups(as_text(input.subspan(1)), "fuzz.txt", first == 255 ? -1 : first);
  check_promise(groups.num_groups() >= 1 && groups.offsets.front() == 0, "offsets begin");
  check_promise(groups.offsets.back() == static_cast<int64_t>(groups.members.size()), "they end");
  check_promise(groups.members.size() == groups.weights.size(), "a weight a member");
  for (int64_t g = 0; g < groups.num_groups(); ++g) {
    int64_t previous = -1;
    for (const int64_t member : groups.members_of(g)) {
      check_promise(member > previous && member < groups.num_samples, "ascending, in range");
      previous = member;
    }
    for (const float weight : groups.weights_of(g)) check_promise(weight > 0, "positive weights");
  }
  const Groups none = select_members(groups, {});
  check_promise(none.members.empty() && none.num_groups() == groups.num_groups(), "selection");
});

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "fuzz_target.h"
#include "milieu/data/format/npz.h"

namespace milieu {
namespace {

const RegisterFuzzTarget kRegistered("npz", [](std::span<const std::byte> input) {
  for (const NpzMember& member : parse_npz(input, "fuzz.npz")) {
    const RawArray& array = member.array;
    check_promise(array.owner != nullptr, "owner");
    if (array.is_text())
      check_promise(static_cast<int64_t>(to_texts(array).size()) == array.rows(), "texts");
    else if (!array.data.empty())
      check_promise(to_points(array, 1).rows() == array.rows(), "rows");
  }
});

}  // namespace
}  // namespace milieu

// SPDX-License-Identifier: Apache-2.0
#include "fuzz_target.h"
#include "milieu/data/format/idx.h"

namespace milieu {
namespace {

const RegisterFuzzTarget kRegistered("idx", [](std::span<const std::byte> input) {
  const RawArray array = parse_idx(input, "fuzz.idx");
  const Points points = to_points(array, 1);
  check_promise(points.rows() == array.rows() && points.cols() == array.cols(), "shape");
  check_promise(static_cast<int64_t>(to_integers(array).size()) == array.rows(), "integers");
});

}  // namespace
}  // namespace milieu

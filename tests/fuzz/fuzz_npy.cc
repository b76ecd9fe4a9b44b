// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "fuzz_target.h"
#include "milieu/data/format/npy.h"
#include "milieu/linalg/finite.h"

namespace milieu {
namespace {

// element_at goes through double, which may round a 64-bit integer before float rounds it again:
// one step of float is the most that this can make.
bool agree(float found, double element) {
  const float expected = static_cast<float>(element);
  if (std::isnan(found) || std::isnan(expected)) return std::isnan(found) && std::isnan(expected);
  return found == expected || found == std::nextafter(expected, found);
}

// Every row, and the rows backwards, hold the file's elements rounded to float.
void check_points(const RawArray& array, const Points& points, bool is_reversed) {
  check_promise(points.rows() == array.rows() && points.cols() == array.cols(), "shape");
  for (int64_t i = 0; i < points.rows(); ++i) {
    for (int64_t j = 0; j < points.cols(); ++j) {
      const int64_t row = is_reversed ? points.rows() - 1 - i : i;
      check_promise(agree(points.view()(i, j), element_at(array, row, j)), "element");
    }
  }
}

const RegisterFuzzTarget kRegistered("npy", [](std::span<const std::byte> input) {
  const RawArray array = parse_npy(input, "fuzz.npy");
  if (array.is_text()) {
    check_promise(static_cast<int64_t>(to_texts(array).size()) == array.rows(), "texts");
    return;
  }
  if (array.data.empty()) return;
  const Points points = to_points(array, 1);
  check_points(array, points, false);
  std::vector<int64_t> rows;
  for (int64_t i = array.rows(); i-- > 0;) rows.push_back(i);
  check_points(array, to_points(array, rows, 1), true);
  const auto bad = find_non_finite(points.view(), 1);
  check_promise(!bad || !std::isfinite(points.view()(bad->row, bad->column)), "non-finite");
  check_promise(static_cast<int64_t>(to_integers(array).size()) == array.rows(), "integers");
});

}  // namespace
}  // namespace milieu

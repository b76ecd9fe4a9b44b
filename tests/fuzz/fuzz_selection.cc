// SPDX-License-Identifier: Apache-2.0
// The first line is the selection, the other lines are labels.
#include <algorithm>
#include <string>

#include "fuzz_target.h"
#include "milieu/data/format/csv_cells.h"
#include "milieu/data/selection.h"

namespace milieu {
namespace {

using namespace internal;

const RegisterFuzzTarget kRegistered("selection", [](std::span<const std::byte> input) {
  std::string_view rest = as_text(input);
  const std::string_view selection = take_line(rest);
  const Labels labels = parse_text_labels(rest, "fuzz.txt", 1);
  const std::vector<int64_t> rows = kept_rows(labels, kept_classes(selection, labels, "fuzz.txt"));
  check_promise(std::is_sorted(rows.begin(), rows.end()) && !rows.empty(), "rows in file order");
  const Labels kept = gather_labels(labels, rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    const int before = labels.indices[static_cast<size_t>(rows[i])];
    check_promise(kept.names[static_cast<size_t>(kept.indices[i])] ==
                      labels.names[static_cast<size_t>(before)],
                  "rows keep their class");
  }
});

}  // namespace
}  // namespace milieu

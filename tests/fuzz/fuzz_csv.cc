// SPDX-License-Identifier: Apache-2.0
// The first byte chooses the options, the rest is the table. Read in one block and in tiny blocks:
// the same table or the same complaint.
#include <optional>
#include <string>

#include "fuzz_target.h"
#include "milieu/base/error.h"
#include "milieu/data/format/csv.h"

namespace milieu {
namespace {

struct Outcome {
  CsvTable table;
  std::string fault;
};

Outcome read(std::string_view text, const CsvOptions& options) {
  Outcome outcome;
  try {
    outcome.table = parse_csv(text, "fuzz.csv", options);
  } catch (const Error& error) {
    outcome.fault = error.what();
  }
  return outcome;
}

CsvOptions options_from(std::byte choice) {
  CsvOptions options;
  const int bits = std::to_integer<int>(choice);
  const char* const columns[] = {"", "kind", "1", "-1"};
  options.label_column = columns[bits & 3];
  options.allow_non_finite = (bits & 4) != 0;
  if ((bits & 8) != 0) options.delimiter = (bits & 16) != 0 ? '\t' : ' ';
  options.num_threads = 1;
  return options;
}

const RegisterFuzzTarget kRegistered("csv", [](std::span<const std::byte> input) {
  if (input.empty()) return;
  CsvOptions options = options_from(input[0]);
  const Outcome whole = read(as_text(input.subspan(1)), options);
  options.block_bytes = 3;
  const Outcome pieces = read(as_text(input.subspan(1)), options);
  check_promise(whole.fault == pieces.fault, "the same fault for any blocks");
  check_promise(whole.table.numbers == pieces.table.numbers, "the same numbers for any blocks");
  check_promise(whole.table.labels.indices == pieces.table.labels.indices, "the same labels");
  check_promise(whole.table.row_names == pieces.table.row_names, "the same names of rows");
  const size_t rows = static_cast<size_t>(whole.table.numbers.rows());
  check_promise(whole.table.labels.empty() || whole.table.labels.indices.size() == rows, "labels");
  check_promise(whole.fault.find('\n') == std::string::npos, "a fault is one line");
});

}  // namespace
}  // namespace milieu

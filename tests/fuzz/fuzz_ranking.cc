// SPDX-License-Identifier: Apache-2.0
// The file of `dcp --rank-contexts --resume`; its first line is the key that is expected,
// each further one a line of the file without its checksum: no fuzzer guesses that.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fuzz_target.h"
#include "milieu/base/hash.h"
#include "milieu/data/format/csv_cells.h"
#include "milieu/run/methods/dcp_contexts.h"

namespace milieu {
namespace {

std::string with_checks(std::string_view rest) {
  std::string text;
  while (!rest.empty()) {
    const std::string_view line = internal::take_line(rest);
    text += std::string(line) + " " + hex(hash_text(line)) + "\n";
  }
  return text;
}

const RegisterFuzzTarget kRegistered("ranking", [](std::span<const std::byte> input) {
  std::string_view rest = as_text(input);
  const std::string key(internal::take_line(rest));
  const std::string path = std::filesystem::temp_directory_path() /
                           ("milieu-fuzz-" + std::to_string(getpid()) + ".ranking");
  std::ofstream(path, std::ios::binary | std::ios::trunc) << with_checks(rest);
  KnownSplits known;
  const RankingState state(path, key, {.num_samples = 4, .num_parts = 2}, known);
  for (const auto& [name, split] : known) {
    check_promise(split.name == name, "splits by name");
    check_promise(split.labels.size() == 4, "a label for every row");
    for (const int label : split.labels) check_promise(label >= 0 && label < 2, "labels in range");
  }
});

}  // namespace
}  // namespace milieu
